import type { StepLine } from "@/server/runs/read/inspect/lines";

/**
 * The attempts from 1, including a current or planned one; empty for a single attempt. The last of running work is
 * open. A wait is the time between two attempts.
 */
export function timedAttempts({ attempts, status }: Pick<StepLine, "attempts" | "status">) {
  const ended = attempts.map(
    (
      {
        startedAt,
        durationMs,
        error,
        console = [],
        changes = [],
        model,
        provider,
        waited = false,
        usage = null,
      },
      index,
    ) => ({
      number: index + 1,
      status: waited ? ("Waiting" as const) : error === null ? ("Completed" as const) : ("Failed" as const),
      startedAt,
      finishedAt: after(startedAt, durationMs),
      durationMs,
      error,
      console,
      changes,
      called: model === undefined ? null : `${model} · ${provider}`,
      usage,
    }),
  );
  const last = attempts.at(-1);
  if (status !== "Running" || last === undefined) return ended;
  const current = ended.at(-1);
  if (isWaiting({ attempts, status }) && current)
    return [...ended.slice(0, -1), { ...current, finishedAt: null, durationMs: null }];
  const startedAt = last.retryAt ?? after(last.startedAt, last.durationMs);
  const none = { error: null, console: [], changes: [], called: null, usage: null };
  const open = { finishedAt: null, durationMs: null, ...none };
  return [...ended, { number: ended.length + 1, status, startedAt, ...open }];
}

/** Returns true if a model call waits because its provider allows no more calls. */
export function isWaiting({ attempts, status }: Pick<StepLine, "attempts" | "status">): boolean {
  const last = attempts.at(-1);
  return status === "Running" && last?.waited === true && last.retryAt !== undefined;
}

export type TimedAttempt = ReturnType<typeof timedAttempts>[number];

function after(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString();
}
