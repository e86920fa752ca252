import { expect, test } from "vitest";
import { formatAge, formatAgo, formatMoment, formatSpan } from "./format";

test("shows the year of a moment in another year, in the reader's time zone", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(formatMoment(new Date("2026-11-21T00:22:07Z"), "Europe/Berlin", now)).toBe("21 Nov 01:22:07");
  expect(formatMoment(new Date("2027-01-31T00:00:00Z"), "UTC", now)).toBe("31 Jan 2027 00:00:00");
  const newYearsEve = new Date("2026-12-31T23:30:00Z");
  expect(formatMoment(newYearsEve, "UTC", now)).toBe("31 Dec 23:30:00");
  expect(formatMoment(newYearsEve, "Europe/Berlin", now)).toBe("1 Jan 2027 00:30:00");
});

test("formats a time span without zero parts", () => {
  expect([250, 1_000, 1_500, 10_000, 60_000, 90_000, 900_000, 3_600_000, 5_400_000].map(formatSpan)).toEqual([
    "250 ms",
    "1 s",
    "1.5 s",
    "10 s",
    "1 min",
    "1 min 30 s",
    "15 min",
    "1 h",
    "1 h 30 min",
  ]);
});

test("formats an age in one unit, and after a week as a date", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const ago = (ms: number) => formatAgo(new Date(now - ms), now, "UTC");
  expect([0, 12_000, 90_000, 7_200_000, 200_000_000].map(formatAge)).toEqual([
    "0 s",
    "12 s",
    "1 min",
    "2 h",
    "2 d",
  ]);
  expect([2_000, 12_000, 90_000, 8 * 86_400_000].map(ago)).toEqual([
    "now",
    "12 s ago",
    "1 min ago",
    "13 Nov 12:00",
  ]);
});
