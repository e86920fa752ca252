import type { CallDetail, StepDetail } from "@/server/runs/read/inspect/inspect-line";
import type { LineStatus, WorkLine } from "../lines";

/**
 * The status of a fetched step or call. Its line may be older, or newer: once it has ended, the details are fetched again.
 * A harmless failure stays one.
 */
export function statusOf(
  line: Pick<WorkLine, "status">,
  { status }: Pick<StepDetail | CallDetail, "status">,
): LineStatus {
  const isExcused = line.status === "Tolerated" || line.status === "Cancelled";
  return status === "Running" || (status === "Failed" && isExcused) ? line.status : status;
}

type Times = Pick<WorkLine, "startedAt" | "finishedAt" | "durationMs">;

/** The times of whichever has ended, the fetched work or its line. */
export const timesOf = (line: Times, work: Times): Times => (work.finishedAt === null ? line : work);
