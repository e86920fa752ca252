import { LONGEST_TIMER_MS } from "@/server/base/sleep";

/** The run may not go on: its balance, cap or deadline is reached. `code` becomes the code of its failure. */
export class LimitReached extends Error {
  override name = "LimitReached";
  readonly code: "insufficient_credits" | "max_credits" | "deadline_exceeded";

  constructor(code: LimitReached["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** The run was cancelled, ended elsewhere or taken over by another worker. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

/**
 * The run must yield its slot before its next call. `until`: all its branches sleep, the first of them until then.
 * `isCallOver`: the server's call must end; its next call continues the run.
 */
export class YieldSlot extends Error {
  override name = "YieldSlot";
  readonly until: Date | undefined;
  readonly isCallOver: boolean;

  constructor(reason: string, { until, isCallOver = false }: { until?: Date; isCallOver?: boolean } = {}) {
    super(reason);
    this.until = until;
    this.isCallOver = isCallOver;
  }

  /** The same, but a run that sleeps does so at most until `limit`. */
  atMost(limit: Date): YieldSlot {
    if (this.until === undefined || this.until <= limit) return this;
    return new YieldSlot(this.message, { until: limit });
  }
}

/** Aborts after some time, at once if it is over; returns a function that prevents it. */
export function abortAfter(ms: number, stop: AbortController, reason: () => Error): () => void {
  if (ms <= 0) {
    stop.abort(reason());
    return () => {};
  }
  const timer = setTimeout(() => stop.abort(reason()), Math.min(ms, LONGEST_TIMER_MS));
  timer.unref();
  return () => clearTimeout(timer);
}
