import fc from "fast-check";
import { expect, it } from "vitest";
import { axisTicks, describeRange } from "./axis-ticks";

const labels = (from: number, to: number, width = Number.POSITIVE_INFINITY) =>
  axisTicks(from, to)
    .filter(({ needs }) => needs <= width)
    .map(({ label }) => label);

it("labels round times in a fitting unit", () => {
  expect(labels(0, 5)).toEqual(["0", "2 ms", "4 ms"]);
  expect(labels(0, 1_900)).toEqual(["0", "500 ms", "1 s", "1.5 s"]);
  expect(labels(0, 100_000)).toEqual(["0", "0:30", "1:00", "1:30"]);
  expect(labels(0, 600_000)).toEqual(["0", "5 min", "10 min"]);
  expect(labels(0, 7_200_000)).toEqual(["0", "30 min", "60 min", "90 min", "120 min"]);
  expect(labels(0, 4 * 86_400_000)).toEqual(["0", "1 d", "2 d", "3 d", "4 d"]);
});

it("labels an enlarged period in time since the start, as precisely as its ticks", () => {
  expect(labels(1_180, 1_290)).toEqual(["1.2 s", "1.25 s"]);
  expect(labels(61_950, 62_850)).toEqual(["1:02.0", "1:02.2", "1:02.4", "1:02.6", "1:02.8"]);
});

it("drops every other label when space is short", () => {
  expect(labels(0, 9_500, 400)).toEqual(["0", "5 s"]);
  expect(labels(0, 4_100, 300)).toEqual(["0", "1 s", "2 s", "3 s", "4 s"]);
  expect(labels(0, 4_100, 120)).toEqual(["0", "2 s", "4 s"]);
  expect(labels(0, 4_100, 60)).toEqual(["0", "4 s"]);
  expect(labels(0, 4_100, 20)).toEqual(["0"]);
});

it("never lets two labels overlap, for any period and width", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 10_000_000 }),
      fc.integer({ min: 1, max: 400_000_000 }),
      fc.integer({ min: 20, max: 900 }),
      (from, span, width) => {
        const shown = axisTicks(from, from + span).filter(({ needs }) => needs <= width);
        let until = -8;
        for (const { at, part, label } of shown) {
          const wide = label.length * 7.5;
          const begin = at === 0 ? 0 : part * width - wide / 2;
          expect(begin).toBeGreaterThanOrEqual(until);
          until = begin + wide + 6;
        }
        expect(until).toBeLessThanOrEqual(width + 6 + 24.01);
      },
    ),
  );
});

it("names a period as precisely as its length requires", () => {
  expect(describeRange(1_204, 3_411)).toBe("1.2 – 3.4 s");
  expect(describeRange(1_204, 1_291)).toBe("1.205 – 1.29 s");
  expect(describeRange(0, 812)).toBe("0 – 800 ms");
  expect(describeRange(950, 3_411)).toBe("1 – 3.4 s");
  expect(describeRange(569_431, 585_120)).toBe("9:29 – 9:45");
  expect(describeRange(600_000, 5_400_000)).toBe("10 – 90 min");
});
