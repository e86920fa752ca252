import { describe, expect, it } from "vitest";
import { barsWithin, describeBars, moveMark, withTimesOf } from "./marked-bars";

const at = (hour: number) => new Date(Date.UTC(2026, 10, 25, hour)).toISOString();
const bars = Array.from({ length: 24 }, (_, hour) => ({
  from: at(hour),
  to: at(hour + 1),
  runs: hour,
  failed: hour === 7 ? 2 : 0,
}));
const hours = { bucketMs: 3_600_000, timeZone: "UTC" };

describe("marked bars", () => {
  it("replace the filter's period by their times, in either direction", () => {
    const change = withTimesOf(bars, { from: 8, at: 6 });
    expect(change({ period: "24h", source: "outside" })).toEqual({
      source: "outside",
      from: at(6),
      to: at(9),
    });
    expect(barsWithin(bars, { from: at(6), to: at(9) })).toEqual({ from: 6, at: 8 });
    expect(barsWithin(bars, { from: at(6) })).toEqual({ from: 6, at: 23 });
    expect(barsWithin(bars, { period: "24h" })).toBeNull();
    expect(barsWithin(bars, { from: at(48), to: at(49) })).toBeNull();
  });

  it("are described with their time and numbers", () => {
    expect(describeBars(bars, { from: 8, at: 6 }, hours)).toBe("25 Nov 06:00 to 09:00: 21 runs, 2 failed");
    expect(describeBars(bars, { from: 1, at: 1 }, hours)).toBe("25 Nov 01:00 to 02:00: 1 run");
    expect(describeBars(bars, { from: 23, at: 23 }, hours)).toBe("25 Nov 23:00 to 26 Nov 00:00: 23 runs");
    const days = { bucketMs: 86_400_000, timeZone: "Pacific/Auckland" };
    expect(describeBars(bars, { from: 0, at: 23 }, days)).toBe("25 Nov: 276 runs, 2 failed");
  });

  it("move with the arrow keys, and grow with shift", () => {
    const move = (key: string, extend = false) => moveMark({ from: 5, at: 5 }, { key, extend, bars: 24 });
    expect(move("ArrowLeft")).toEqual({ from: 4, at: 4 });
    expect(move("ArrowRight", true)).toEqual({ from: 5, at: 6 });
    expect(move("End", true)).toEqual({ from: 5, at: 23 });
    expect(move("Home")).toEqual({ from: 0, at: 0 });
    expect(move("Tab")).toBeNull();
  });
});
