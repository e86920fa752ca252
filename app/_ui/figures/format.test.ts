import { expect, test } from "vitest";
import {
  formatAge,
  formatAgo,
  formatBytes,
  formatMoment,
  formatShare,
  formatSpan,
  formatUptime,
} from "./format";

test("shows the year of a moment in another year, in the reader's time zone", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(formatMoment(new Date("2026-11-21T00:22:07Z"), "Europe/Berlin", now)).toBe("21 Nov 01:22:07");
  expect(formatMoment(new Date("2027-01-31T00:00:00Z"), "UTC", now)).toBe("31 Jan 2027 00:00:00");
  const newYearsEve = new Date("2026-12-31T23:30:00Z");
  expect(formatMoment(newYearsEve, "UTC", now)).toBe("31 Dec 23:30:00");
  expect(formatMoment(newYearsEve, "Europe/Berlin", now)).toBe("1 Jan 2027 00:30:00");
});

test("rounds a share neither up to all nor down to nothing", () => {
  const shares = [formatShare(9_999, 10_000), formatShare(1, 10_000), formatShare(97, 100)];
  expect(shares).toEqual(["99.9%", "0.1%", "97.0%"]);
  expect([formatShare(3, 3), formatShare(0, 3), formatShare(0, 0)]).toEqual(["100.0%", "0.0%", "–"]);
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

test("formats bytes in the largest unit that gives one or more", () => {
  const sizes = [0, 1_023, 1_024, 1_048_575, 5.5 * 1_024 ** 3, 3 * 1_024 ** 4, 5_000 * 1_024 ** 4];
  expect(sizes.map(formatBytes)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KiB",
    "1.0 MiB",
    "5.5 GiB",
    "3.0 TiB",
    "5000.0 TiB",
  ]);
});

test("formats the time since a start in two units", () => {
  expect([5, 3_720, 86_399, 532_900].map(formatUptime)).toEqual([
    "5.00 s",
    "1 h 02 min",
    "23 h 59 min",
    "6 d 4 h",
  ]);
});
