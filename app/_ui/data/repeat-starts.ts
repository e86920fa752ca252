import type { TRPCLink } from "@trpc/client";
import { tap } from "@trpc/server/observable";
import { describeError } from "@/app/_ui/data/query-client";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { writeJson } from "@/server/base/json/json";

const STARTS: readonly string[] = [
  "runs.fork",
  "runs.rerun",
  "runs.start",
  "runs.tryAgent",
  "runs.tryTool",
  "schedules.runNow",
  "triggers.redeliver",
];

/** Returns true for a call that starts a run. */
export const isStart = ({ path }: { path: string }) => STARTS.includes(path);

/**
 * Gives each start an id. If its answer was lost, the same start gets the same id again, so that the server answers
 * with the run that it may have started.
 */
export const repeatStarts: TRPCLink<DashboardRouter> = () => {
  /** The ids of starts without an answer, by path and input. */
  const unanswered = new Map<string, string>();
  return ({ op, next }) => {
    if (!isStart(op)) return next(op);
    const start = `${op.path} ${writeJson(op.input)}`;
    const startId = unanswered.get(start) ?? newStartId();
    unanswered.set(start, startId);
    const answered = () => void unanswered.delete(start);
    return next({ ...op, context: { ...op.context, startId } }).pipe(
      tap({
        next: answered,
        error: (error) => {
          if (!["unreachable", "internal_error"].includes(describeError(error).code)) answered();
        },
      }),
    );
  };
};

export const startIdOf = ({ context: { startId } }: { context: Record<string, unknown> }) =>
  typeof startId === "string" ? startId : "";

/** Pages without TLS have no `crypto.randomUUID`. */
const newStartId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
