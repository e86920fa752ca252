import { testClock } from "./clock";

/**
 * Time that passes at once when everything waits for an injected clock and sleep. Nothing else may wait, such as
 * the network or timers, unless `isWaiting` tells it.
 */
export function virtualTime() {
  const clock = testClock();
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = { at: clock.monotonicMs() + ms, wake: resolve };
      const stop = () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      };
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      sleepers.add(sleeper);
    });
  return {
    clock,
    sleep,
    async pass<Result>(work: Promise<Result>, isWaiting?: () => boolean): Promise<Result> {
      let isDone = false;
      const done = () => {
        isDone = true;
      };
      work.then(done, done);
      for (;;) {
        // All promises settle before the second turn.
        for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
        if (isDone) return work;
        if (isWaiting?.() === false) {
          await new Promise((resolve) => setTimeout(resolve, 2));
          continue;
        }
        const [next] = [...sleepers].sort((one, other) => one.at - other.at);
        if (next === undefined) throw new Error("nothing waits for time, but the work is not done");
        sleepers.delete(next);
        clock.advance(Math.max(0, next.at - clock.monotonicMs()));
        next.wake();
      }
    },
  };
}
