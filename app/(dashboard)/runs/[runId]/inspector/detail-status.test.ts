import { expect, test } from "vitest";
import { statusOf, timesOf } from "./detail-status";

test.each([
  // The page has the end of the line, and the details are of before.
  ["Cancelled", "Running", "Cancelled"],
  ["Completed", "Running", "Completed"],
  ["Waiting", "Running", "Waiting"],
  // The details came first.
  ["Running", "Completed", "Completed"],
  ["Running", "Running", "Running"],
  // A harmless failure.
  ["Cancelled", "Failed", "Cancelled"],
  ["Tolerated", "Failed", "Tolerated"],
  ["Running", "Failed", "Failed"],
] as const)("a line that is %s with details that are %s is %s", (line, status, expected) => {
  expect(statusOf({ status: line }, { status })).toBe(expected);
});

test("the times are of what has ended", () => {
  const open = { startedAt: "2026-01-01T00:00:00.000Z", finishedAt: null, durationMs: null };
  const ended = { ...open, finishedAt: "2026-01-01T00:00:01.000Z", durationMs: 1000 };
  expect(timesOf(ended, open)).toBe(ended);
  expect(timesOf(open, ended)).toBe(ended);
  expect(timesOf(open, open)).toBe(open);
});
