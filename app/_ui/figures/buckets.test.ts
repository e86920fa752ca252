import { expect, test } from "vitest";
import { axisLabel } from "./buckets";

const HOUR = 3_600_000;
const label = (from: string, before?: string, bucketMs = HOUR) =>
  axisLabel(
    { from },
    { before: before === undefined ? undefined : { from: before }, bucketMs, timeZone: "Europe/Berlin" },
  );

test("labels a day below the chart where it begins", () => {
  expect(label("2026-11-20T21:00:00Z")).toBe("20 Nov 22:00");
  expect(label("2026-11-20T22:00:00Z", "2026-11-20T21:00:00Z")).toBe("23:00");
  expect(label("2026-11-20T23:00:00Z", "2026-11-20T22:00:00Z")).toBe("21 Nov 00:00");
  expect(label("2026-11-21T00:00:00Z", "2026-11-20T00:00:00Z", 24 * HOUR)).toBe("21 Nov");
});
