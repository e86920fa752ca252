import { expect, test } from "vitest";
import { daysLeft } from "./days-left";

const CLOCK = { now: Date.parse("2026-11-21T12:00:00Z"), timeZone: "UTC" };

test("a balance lasts until the day on which it is used up", () => {
  expect(daysLeft(25, 10, CLOCK)).toEqual({
    value: "2",
    note: "at this rate, without another grant: until 24 Nov 2026",
  });
  expect(daysLeft(-3, 10, CLOCK).value).toBe("0");
  expect(daysLeft(1_000_000, 0.01, CLOCK)).toEqual({
    value: "3,650+",
    note: "at this rate, without another grant: more than ten years",
  });
});

test("a balance that nothing uses has no end, even if it is empty", () => {
  const unused = { value: "–", note: "Nothing was used in the last 7 days" };
  expect(daysLeft(0, 0, CLOCK)).toEqual(unused);
  expect(daysLeft(5, 0, CLOCK)).toEqual(unused);
});
