import { expect, test } from "vitest";
import type { Json } from "./json";
import { isSmall } from "./small";

const keys = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]));

test.each<{ name: string; value: Json; mostSteps: number }>([
  { name: "a number", value: 1, mostSteps: 20_000 },
  { name: "a list of 99", value: Array(99).fill(1), mostSteps: 200 },
  { name: "a list of 999", value: Array(999).fill(1), mostSteps: 20 },
  { name: "a list of 5,000", value: Array(5_000).fill(1), mostSteps: 3 },
  { name: "49 keys", value: keys(49), mostSteps: 197 },
  { name: "5,000 keys", value: keys(5_000), mostSteps: 1 },
  { name: "10 KB of text", value: { text: "x".repeat(10_240) }, mostSteps: 122 },
  { name: "a text of 60 KB", value: "x".repeat(60_000), mostSteps: 21 },
  { name: "a long key", value: { ["x".repeat(60_000)]: 1 }, mostSteps: 21 },
  { name: "a nest of lists", value: Array(99).fill(Array(99).fill(1)), mostSteps: 2 },
])("$name is small for work of up to $mostSteps steps each", ({ value, mostSteps }) => {
  expect([isSmall(value, mostSteps), isSmall(value, mostSteps + 1)]).toEqual([true, false]);
});

test("nothing is small for work without a bound", () => {
  expect(isSmall(1, Infinity)).toBe(false);
});

test("the walk over a value ends early", () => {
  let reads = 0;
  const counted = Object.defineProperty({}, "a", { enumerable: true, get: () => ++reads });
  expect(isSmall(Array.from({ length: 999 }, () => counted))).toBe(false);
  expect(reads).toBeLessThan(1_000);
});
