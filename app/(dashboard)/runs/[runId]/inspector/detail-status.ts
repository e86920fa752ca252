import type { CallDetail, StepDetail } from "@/server/runs/read/inspect/inspect-line";
import type { LineStatus, WorkLine } from "../lines";

/**
 * The status of fetched details. Details that are still running take the line's status, and a tolerated or
 * cancelled failure stays one.
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
