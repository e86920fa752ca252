import { formatCredits, formatShare, NONE } from "@/app/_ui/figures/format";
import { StatusShape } from "@/app/_ui/figures/status";
import type { RunFigures } from "@/server/runs/read/metrics/figures";

const LOW_SUCCESS = 0.9;

/** The share of completed among ended runs. */
export function SuccessRate({ of }: { of: RunFigures }) {
  const share = formatShare(of.completed, ended(of));
  if (ended(of) === 0 || of.completed / ended(of) >= LOW_SUCCESS) return share;
  return (
    <span className="inline-flex items-baseline gap-1.5 text-failed" title="Below 90%">
      <StatusShape className="translate-y-px" status="Failed" />
      {share}
    </span>
  );
}

/** Cancelled runs count neither as a success nor as a failure. */
export function ended({ completed, failed }: Pick<RunFigures, "completed" | "failed">): number {
  return completed + failed;
}

/** The average cost of an ended run; null if none has ended. */
export function creditsPerRun({ runs, open, credits }: RunFigures): number | null {
  return runs === open ? null : Number(credits) / (runs - open);
}

/** The average cost of an ended run with the runs that it called. */
export function formatPerRunWithChildren(figures: RunFigures): string {
  return formatPerRun({ ...figures, credits: figures.creditsWithChildren });
}

export function formatPerRun(figures: RunFigures): string {
  const credits = creditsPerRun(figures);
  return credits ? formatCredits(credits.toFixed(4), credits < 1 ? 4 : 2) : NONE;
}
