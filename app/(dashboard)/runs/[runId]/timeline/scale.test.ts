import { expect, it } from "vitest";
import { stepLine } from "@/testing/run-lines";
import { linesOf, type Row, rowsOf } from "../lines";
import { barOf, initialRange, rangeAround, type Scale, scaleOfRange } from "./scale";

const BEGIN = Date.parse("2026-11-21T01:22:07.000Z");
const at = (ms: number) => new Date(BEGIN + ms).toISOString();
const full: Scale = { measure: "time", start: BEGIN, span: 10_000 };

function line(from: number, to: number | null): Row {
  const step = stepLine("fetch", {
    status: to === null ? "Running" : "Completed",
    startedAt: at(from),
    finishedAt: to === null ? null : at(to),
    durationMs: to === null ? null : to - from,
  });
  const [row] = rowsOf(linesOf({ run: { id: "run", kind: "tool" }, steps: [step], calls: [] }));
  if (!row) throw new Error("There is no line.");
  return row;
}

const around = (from: number, to: number | null, now = BEGIN + 10_000) => {
  const range = rangeAround(line(from, to), full, now);
  return range && [range.from - BEGIN, range.to - BEGIN];
};

it("zooms to a line with a small margin, within the run", () => {
  expect(around(2_000, 3_000)).toEqual([1_900, 3_100]);
  expect(around(2_000, 2_000)).toEqual([1_995, 2_005]);
  expect(around(0, 3_000)).toEqual([0, 3_300]);
  expect(around(9_000, null)).toEqual([8_900, 10_000]);
  expect(around(0, 10_000)).toBeNull();
});

it("cuts bars at the edges, and marks the side of lines outside", () => {
  const range = { from: BEGIN + 2_000, to: BEGIN + 4_000 };
  const scale = scaleOfRange(range);
  const bar = (from: number, to: number | null) => {
    const { rects, beyond } = barOf(line(from, to), { scale, range, now: BEGIN + 10_000 });
    return beyond ?? [rects[0]?.from, rects[0]?.length];
  };
  expect(bar(2_500, 3_000)).toEqual([0.25, 0.25]);
  expect(bar(1_000, 3_000)).toEqual([0, 0.5]);
  expect(bar(3_500, null)).toEqual([0.75, 0.25]);
  expect(bar(0, 10_000)).toEqual([0, 1]);
  expect(bar(0, 1_999)).toBe("before");
  expect(bar(4_001, 5_000)).toBe("after");
});

it("opens an ended run on the part that executed if its wait was far longer", () => {
  const opens = (waited: number, ran: number | null) =>
    initialRange({
      createdAt: at(-waited),
      startedAt: at(0),
      finishedAt: ran === null ? null : at(ran),
    });
  expect(opens(90_000, 4_000)).toEqual({ from: BEGIN - 400, to: BEGIN + 4_000 });
  expect(opens(16_000, 4_000)).toBeNull();
  expect(opens(900, 10)).toBeNull();
  expect(opens(90_000, null)).toBeNull();
});
