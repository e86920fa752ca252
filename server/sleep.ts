/** Waits for `ms` milliseconds, or until `signal` is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** Waits for `ms` milliseconds; throws the signal's reason once it is aborted. */
export async function sleepOrThrow(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, signal);
  signal.throwIfAborted();
}
