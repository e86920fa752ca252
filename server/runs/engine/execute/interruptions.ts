import { LONGEST_TIMER_MS } from "@/server/base/sleep";

export class CreditsExhausted extends Error {
  override name = "CreditsExhausted";
}

export class CapReached extends Error {
  override name = "CapReached";
}

/** The run was cancelled, ended elsewhere or taken over by another worker. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

export class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/** The run must yield its slot before its next call. */
export class YieldSlot extends Error {
  override name = "YieldSlot";
}

/** All branches of the run sleep; the first of them until this time. The run is to leave its slot until then. */
export class SleepUntil extends YieldSlot {
  override name = "SleepUntil";
  readonly until: Date;

  constructor(until: Date) {
    super("the run waits");
    this.until = until;
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
