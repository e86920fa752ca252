import { expect, test } from "vitest";
import { runTimeBoxed, TimeBoxError } from "@/server/time-box";

test("gives what the work gives, and throws what it throws", () => {
  expect(runTimeBoxed(1000, () => [1, { a: 2 }])).toEqual([1, { a: 2 }]);
  expect(runTimeBoxed(1000, () => undefined)).toBeUndefined();
  expect(() =>
    runTimeBoxed(1000, () => {
      throw new RangeError("mine");
    }),
  ).toThrow(new RangeError("mine"));
});

test("interrupts a catastrophic regular expression and an endless loop", () => {
  const started = Date.now();
  expect(() => runTimeBoxed(50, () => /^(a+)+$/.test(`${"a".repeat(40)}b`))).toThrow(TimeBoxError);
  expect(() =>
    runTimeBoxed(50, () => {
      for (;;);
    }),
  ).toThrow(TimeBoxError);
  expect(Date.now() - started).toBeLessThan(8000);
  expect(runTimeBoxed(50, () => runTimeBoxed(40, () => 7))).toBe(7);
});
