import { expect, test } from "vitest";
import { createActCheckpoint } from "./execute-tool";

function passes(...calls: { act: string; width: number; times?: number }[]): number[] {
  let count = 0;
  const pass = createActCheckpoint(() => {
    count += 1;
  });
  return calls.map(({ times = 1, ...call }) => {
    count = 0;
    for (let n = 0; n < times; n++) pass(call);
    return count;
  });
}

test("every sequential call passes the checkpoint", () => {
  expect(passes({ act: "a", width: 1 }, { act: "b", width: 1 }, { act: "c", width: 1, times: 5 })).toEqual([
    1, 1, 5,
  ]);
});

test("calls side by side pass it once", () => {
  expect(passes({ act: "group", width: 4, times: 4 }, { act: "each", width: 10, times: 25 })).toEqual([1, 3]);
});

test("steps after a group with fewer calls than it may have do not skip it", () => {
  const steps = ["b", "c", "d"].map((act) => ({ act, width: 1 }));
  expect(passes({ act: "each", width: 20, times: 2 }, ...steps)).toEqual([1, 1, 1, 1]);
  expect(passes({ act: "each", width: 20, times: 2 }, { act: "next", width: 20, times: 2 })).toEqual([1, 1]);
});

test("a checkpoint that throws is passed again by the next call", () => {
  let calls = 0;
  const pass = createActCheckpoint(() => {
    calls += 1;
    throw new Error("yield");
  });
  for (let n = 0; n < 2; n++) expect(() => pass({ act: "a", width: 5 })).toThrow("yield");
  expect(calls).toBe(2);
});
