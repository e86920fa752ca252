import cluster from "node:cluster";
import type { Logger } from "@/server/base/log";

/** The time in which requests and runs must reach a safe point at shutdown. */
export const GRACE_MS = 5_000;
/** The longest stop, after the drain time. Open requests and attempts of callbacks take 15 s together. */
export const STOP_MS = 18_000;

export const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

/** Stops and exits after a signal. A second one, more than a second later, ends the process immediately. */
export function stopOnSignals({ stop }: { stop(signal: StopSignal): Promise<void> }): void {
  let stoppedAt: number | undefined;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      // The primary ends its processes.
      if (stoppedAt !== undefined && !cluster.isWorker && performance.now() - stoppedAt > 1_000)
        process.exit(1);
      if (stoppedAt !== undefined) return;
      stoppedAt = performance.now();
      void stop(signal).then(() => process.exit(0));
    });
  }
}

/**
 * Ends the process if a stop takes longer than `ms`, such as without a database. Its runs continue as after a crash.
 * Returns a function that takes this back.
 */
export function limitStop(log: Logger, ms: number): () => void {
  const timer = setTimeout(() => {
    log.error("The process did not stop in time; ending it. Its runs continue as after a crash.", { ms });
    process.exit(1);
  }, ms);
  return () => clearTimeout(timer);
}
