import { afterEach, expect, it, vi } from "vitest";
import { FairQueue } from "./fair-queue";

afterEach(() => void vi.useRealTimers());

function bench(queue: FairQueue) {
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const done = new Map<string, Promise<string>>();
  return {
    order,
    add(organizationId: string, name: string) {
      const work = () => {
        order.push(name);
        return new Promise<string>((end) => ends.set(name, () => end(name)));
      };
      done.set(name, queue.take(organizationId, work));
    },
    async end(name: string) {
      await new Promise((resolve) => setImmediate(resolve));
      ends.get(name)?.();
      await done.get(name);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("serves organizations in turn, in order of arrival", async () => {
  const { add, end, order } = bench(new FairQueue(1, 1));
  for (const name of ["a1", "a2", "a3"]) add("a", name);
  add("b", "b1");
  add("c", "c1");
  add("b", "b2");
  for (const name of ["a1", "a2", "b1", "c1", "a3", "b2"]) await end(name);
  expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
});

it("never gives one organization all slots", async () => {
  const { add, end, order } = bench(new FairQueue(3, 2));
  for (const name of ["a1", "a2", "a3", "a4"]) add("a", name);
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["a1", "a2"]);
  add("b", "b1");
  add("c", "c1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["a1", "a2", "b1"]);
  await end("b1");
  expect(order.at(-1)).toBe("c1");
  await end("a1");
  expect(order.at(-1)).toBe("a3");
});

it("frees the slot when work fails, and throws what it threw", async () => {
  const queue = new FairQueue(1, 1);
  const failing = queue.take("a", () => Promise.reject(new Error("no")));
  const next = queue.take("b", async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
});

it("does not begin work that was aborted while it waited", async () => {
  const queue = new FairQueue(1, 1);
  const { add, end, order } = bench(queue);
  const cancel = new AbortController();
  add("a", "a1");
  const aborted = expect(queue.take("a", async () => order.push("a2"), cancel.signal)).rejects.toThrow(
    "over",
  );
  add("a", "a3");
  cancel.abort(new Error("over"));
  await end("a1");
  await aborted;
  await end("a3");
  expect(order).toEqual(["a1", "a3"]);
});

async function fill(queue: FairQueue) {
  vi.useFakeTimers({ toFake: ["performance"] });
  const hostile = ["a", "b", "c", "d"];
  const work = bench(queue);
  for (const round of [1, 2, 3]) for (const name of hostile) work.add(name, `${name}${round}`);
  await new Promise((resolve) => setImmediate(resolve));
  expect(work.order).toEqual(["a1", "b1", "c1", "d1"]);
  return { ...work, hostile };
}

it("leaves a slot for short work when organizations have filled all slots with long work", async () => {
  const { add, end, order } = await fill(new FairQueue(4, 1, { reserved: 1 }));
  add("e", "e1");
  vi.advanceTimersByTime(10_000);
  // The first slot that is free goes to the organization without long work, and stays for such ones.
  await end("a1");
  expect(order.slice(4)).toEqual(["e1"]);
  await end("e1");
  add("f", "f1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(order.slice(4)).toEqual(["e1", "f1"]);
  await end("f1");
  await end("b1");
  expect(order.slice(4)).toEqual(["e1", "f1", "a2"]);
  for (const name of ["e2", "e3"]) add("e", name);
  await end("e2");
  await end("e3");
  expect(order.slice(7)).toEqual(["e2", "e3"]);
});

it("no longer counts an organization's work as long after a minute", async () => {
  const { end, order } = await fill(new FairQueue(4, 1, { reserved: 1 }));
  vi.advanceTimersByTime(10_000);
  await end("a1");
  expect(order).toHaveLength(4);
  vi.advanceTimersByTime(70_000);
  await end("b1");
  expect(order.slice(4)).toEqual(["a2"]);
});
