import { formatCount, formatCredits, formatDuration, formatShare } from "@/app/_ui/figures/format";
import { ENDED_STATUSES } from "@/server/contract/enums";
import { OPEN_LISTED_STATUSES } from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunFigures } from "@/server/runs/read/metrics/figures";
import { ended } from "../runs/rates";

export type FigureName = keyof ReturnType<typeof figureFilters>;

/**
 * The filter for the runs behind each figure. Tokens and credits include open runs. A percentile links to ended
 * runs of its duration class or slower; a rate to runs that succeeded or failed.
 */
export function figureFilters({ p50AtLeast, p95AtLeast }: Pick<RunFigures, "p50AtLeast" | "p95AtLeast">) {
  const took = (minDurationMs: number | null) =>
    minDurationMs === null ? {} : { status: [...ENDED_STATUSES], minDurationMs };
  return {
    runs: {},
    completed: { status: ["Completed"] },
    failed: { status: ["Failed"] },
    cancelled: { status: ["Cancelled"] },
    open: { status: [...OPEN_LISTED_STATUSES] },
    success: { status: ["Completed", "Failed"] },
    children: { source: "run" },
    tokens: { minTokens: 1 },
    credits: { minCredits: "0.0001" },
    p50: took(p50AtLeast),
    p95: took(p95AtLeast),
  } satisfies Record<string, RunFilter>;
}

/** Formats a figure; null if there is nothing to show and no run to link to. */
export function formatFigure(name: FigureName, figures: RunFigures): string | null {
  switch (name) {
    case "success":
      return ended(figures) === 0 ? null : formatShare(figures.completed, ended(figures));
    case "credits":
      return Number(figures.credits) === 0 ? null : formatCredits(figures.credits, 2);
    case "p50":
    case "p95":
      return figures[name] === null ? null : formatDuration(figures[name]);
    default:
      return figures[name] === 0 ? null : formatCount(figures[name]);
  }
}
