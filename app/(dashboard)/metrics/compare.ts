import { formatDifference, formatDuration } from "@/app/_ui/figures/format";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { ended } from "../runs/rates";
import { type FigureName, formatFigure } from "./figures";

export type KeyFigure = Extract<FigureName, "runs" | "success" | "p50" | "p95" | "tokens" | "credits">;

/** With fewer runs before, a difference says nothing. */
const FEW_RUNS = 10;
/** From this factor on, a percentage is harder to read than the value before. */
const MANY_TIMES = 10;

/** A figure against that of the period before: `+12.0%`, `−1.5 pt`, `+20 ms`, or `3 before`; null without one. */
export function compareFigure(figure: KeyFigure, before: RunFigures, now: RunFigures): string | null {
  const [past, present] = [amountOf(figure, before), amountOf(figure, now)];
  if (before.runs === 0 || past === null || present === null) return null;
  if (before.runs < FEW_RUNS) return `${formatFigure(figure, before) ?? 0} before`;
  if (figure === "success")
    return `${formatDifference((present - past) * 100, (points) => points.toFixed(1))} pt`;
  if (figure === "p50" || figure === "p95") return formatDifference(present - past, formatDuration);
  if (past === 0) return present === 0 ? "±0" : "0 before";
  if (present / past >= MANY_TIMES) return `${formatFigure(figure, before) ?? 0} before`;
  return `${formatDifference((present / past - 1) * 100, (share) => share.toFixed(1))}%`;
}

function amountOf(figure: KeyFigure, figures: RunFigures): number | null {
  switch (figure) {
    case "success":
      return ended(figures) === 0 ? null : figures.completed / ended(figures);
    case "credits":
      return Number(figures.credits);
    default:
      return figures[figure];
  }
}
