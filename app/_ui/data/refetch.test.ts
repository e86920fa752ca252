import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { createRefetch } from "./refetch";

test("a query that changes faster than it is fetched shows something new, and the newest at the end", async () => {
  const queryClient = new QueryClient();
  let stored = 0;
  const answers: (() => void)[] = [];
  const observer = new QueryObserver(queryClient, {
    queryKey: ["text"],
    queryFn: () => {
      const read = stored;
      return new Promise<number>((resolve) => answers.push(() => resolve(read)));
    },
  });
  const unsubscribe = observer.subscribe(() => {});
  const refetch = createRefetch(queryClient);
  const shown = () => observer.getCurrentResult().data;
  const change = () => {
    stored += 1;
    return refetch(["text"]);
  };
  // The first fetch has begun before the first change.
  const done = change();
  void change();
  answers.shift()?.();
  await expect.poll(() => answers.length).toBe(1);
  expect(shown()).toBe(0);
  void change();
  answers.shift()?.();
  await expect.poll(shown).toBe(2);
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()?.();
  await done;
  expect([shown(), answers.length]).toEqual([3, 0]);
  unsubscribe();
});
