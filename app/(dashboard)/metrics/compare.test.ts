import { expect, it } from "vitest";
import { emptySum, viewFigures } from "@/server/runs/read/metrics/figures";
import { compareFigure, type KeyFigure } from "./compare";

const figures = (runs: number, more: object = {}) => ({
  ...viewFigures(emptySum()),
  runs,
  completed: runs,
  tokens: runs * 1_000,
  credits: `${runs}.0000`,
  p95: 1_200,
  ...more,
});

it.each<[figure: KeyFigure, before: number, now: number, expected: string | null]>([
  ["runs", 3, 747, "3 before"],
  ["tokens", 3, 747, "3,000 before"],
  ["success", 3, 747, "100.0% before"],
  ["p95", 3, 747, "1.20 s before"],
  ["runs", 20, 747, "20 before"],
  ["runs", 100, 112, "+12.0%"],
  ["runs", 100, 50, "−50.0%"],
  ["credits", 100, 50, "−50.0%"],
  ["runs", 0, 50, null],
])("compares %s of %d runs with those of %d as %s", (figure, before, now, expected) => {
  expect(compareFigure(figure, figures(before), figures(now))).toBe(expected);
});

it("says so when there were many runs but none of a figure", () => {
  expect(compareFigure("credits", figures(100, { credits: "0.0000" }), figures(100))).toBe("0 before");
});
