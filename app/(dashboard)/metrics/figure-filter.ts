import type { RunFilter } from "@/server/runs/read/filter";
import type { RunFigures } from "@/server/runs/read/metrics";

const ENDED = ["Completed", "Failed", "Cancelled"] as const;

/**
 * The runs behind each figure: those counted, those whose tokens and credits are summed (open ones with what they used so
 * far), the ended ones that took as long as a percentile's class or longer. A rate is of the runs that could succeed or fail.
 */
export function figureFilters({ p50AtLeast, p95AtLeast }: Pick<RunFigures, "p50AtLeast" | "p95AtLeast">) {
  const took = (minDurationMs: number | null) =>
    minDurationMs === null ? {} : { status: [...ENDED], minDurationMs };
  return {
    runs: {},
    completed: { status: ["Completed"] },
    failed: { status: ["Failed"] },
    cancelled: { status: ["Cancelled"] },
    open: { status: ["Pending", "Running"] },
    success: { status: ["Completed", "Failed"] },
    tokens: { minTokens: 1 },
    credits: { minCredits: "0.0001" },
    p50: took(p50AtLeast),
    p95: took(p95AtLeast),
  } satisfies Record<string, RunFilter>;
}
