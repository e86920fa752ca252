import type { StepLine } from "@/server/runs/read/inspect/lines";

/** One attempt of a step or model call on the time axis, counted from 1. The last of a running one is open. */
export type TimedAttempt = Pick<StepLine, "status" | "startedAt" | "finishedAt" | "durationMs"> & {
  number: number;
  /** Why it failed. */
  error: string | null;
  /** What a script printed. */
  console: readonly string[];
};

/**
 * The attempts of work that has several, including a current or planned one; empty for a single attempt. A wait is
 * between the end of one and the start of the next.
 */
export function timedAttempts({ attempts, status }: Pick<StepLine, "attempts" | "status">): TimedAttempt[] {
  const ended = attempts.map(({ startedAt, durationMs, error, console = [] }, index): TimedAttempt => {
    const finishedAt = after(startedAt, durationMs);
    return {
      number: index + 1,
      status: error === null ? "Completed" : "Failed",
      startedAt,
      finishedAt,
      durationMs,
      error,
      console,
    };
  });
  const last = attempts.at(-1);
  if (status !== "Running" || last === undefined) return ended;
  const startedAt = last.retryAt ?? after(last.startedAt, last.durationMs);
  return [
    ...ended,
    {
      number: ended.length + 1,
      status,
      startedAt,
      finishedAt: null,
      durationMs: null,
      error: null,
      console: [],
    },
  ];
}

function after(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString();
}
