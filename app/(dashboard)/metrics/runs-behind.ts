import type { RunFilter } from "@/server/runs/filter";
import type { RunFigures } from "@/server/runs/metrics";

/**
 * The runs behind each figure: those counted, those whose tokens and credits are summed, those that took as long as a
 * percentile or longer. A rate is of the runs that could succeed or fail.
 */
export function runsBehind({ p50, p95 }: Pick<RunFigures, "p50" | "p95">) {
  return {
    runs: {},
    completed: { status: ["Completed"] },
    failed: { status: ["Failed"] },
    cancelled: { status: ["Cancelled"] },
    open: { status: ["Pending", "Running"] },
    success: { status: ["Completed", "Failed"] },
    tokens: { minTokens: 1 },
    credits: { minCredits: "0.0001" },
    p50: p50 === null ? {} : { minDurationMs: p50 },
    p95: p95 === null ? {} : { minDurationMs: p95 },
  } satisfies Record<string, RunFilter>;
}
