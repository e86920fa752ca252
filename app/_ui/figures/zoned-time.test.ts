import { expect, test } from "vitest";
import { readZonedTime, writeZonedTime } from "./zoned-time";

test.each([
  ["2026-11-20T08:30", "Asia/Tokyo", "2026-11-19T23:30:00.000Z"],
  ["2026-11-20T23:59:59", "America/New_York", "2026-11-21T04:59:59.000Z"],
  ["2026-07-01T00:00", "Europe/Berlin", "2026-06-30T22:00:00.000Z"],
])("%s in %s is %s", (shown, timeZone, moment) => {
  const read = readZonedTime(shown, timeZone);
  expect(read?.toISOString()).toBe(moment);
  expect(writeZonedTime(new Date(moment), timeZone)).toBe(shown.slice(0, 16));
});

test("a text that is no time is null", () => {
  for (const text of ["", "T23:59:59", "2026-11-20", "2026-13-01T00:00"])
    expect(readZonedTime(text, "UTC"), text).toBeNull();
});
