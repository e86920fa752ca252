import fc from "fast-check";
import { expect, test } from "vitest";
import { clockOffset } from "./server-clock";

const HOUR = 3_600_000;

test("trusts a browser clock that may be right", () => {
  expect(clockOffset(0, [5_000, 5_000], [4_900, 5_300])).toBe(0);
  // The Date header has whole seconds.
  expect(clockOffset(0, [5_000, 5_999], [5_800, 5_850])).toBe(0);
});

test("corrects a wrong clock to within half the response time", () => {
  expect(clockOffset(0, [HOUR, HOUR], [0, 400])).toBe(HOUR - 200);
  expect(clockOffset(0, [0, 0], [HOUR, HOUR + 400])).toBe(-HOUR - 200);
});

test("keeps the estimate while it is possible, and drops it when the browser's clock jumps", () => {
  expect(clockOffset(HOUR - 150, [HOUR + 2_000, HOUR + 2_999], [2_300, 2_400])).toBe(HOUR - 150);
  expect(clockOffset(HOUR - 150, [HOUR, HOUR + 999], [HOUR + 100, HOUR + 140])).toBe(380);
});

test("is never off by more than the response time", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.nat(5_000),
      fc.nat(5_000),
      fc.integer({ min: -1e9, max: 1e9 }),
      (ahead, toServer, toBrowser, known) => {
        const shown = 1e12 + toServer + ahead;
        const found = clockOffset(known, [shown, shown], [1e12, 1e12 + toServer + toBrowser]);
        expect(Math.abs(found - ahead)).toBeLessThanOrEqual(toServer + toBrowser + 1);
      },
    ),
  );
});
