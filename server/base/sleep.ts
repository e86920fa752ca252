/** The longest delay of a timer of Node; a longer one fires immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return sleepUntilWoken(ms, signal, () => {});
}

/** Waits for the earliest of `ms`, the signal, or a call of `wake`. */
export function sleepUntilWoken(
  ms: number,
  signal: AbortSignal | undefined,
  onWake: (wake: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
    onWake(done);
  });
}

/**
 * A signal that fires with another one, or with `reason` after `ms`; `restart` starts them again. `end` stops both.
 * Unlike AbortSignal.any, it then leaves no reference in a long-lived signal.
 */
export function limitTime(
  signal: AbortSignal,
  ms: number,
  reason: () => Error,
): { signal: AbortSignal; restart: () => void; end: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(reason()), ms);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  };
  const restart = () => void timer.refresh();
  return { signal: controller.signal, restart, end };
}

/** Waits for `ms` milliseconds; throws the signal's reason once it is aborted. */
export async function sleepOrThrow(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, signal);
  signal.throwIfAborted();
}
