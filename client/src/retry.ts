/** Pauses between attempts. */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

const RETRIED_STATUSES = [429, 500, 502, 503, 504];

export const isRetriedStatus = (status: number) => RETRIED_STATUSES.includes(status);

/**
 * Milliseconds before the next attempt. Never less than the service asks for, and different for each caller, so that
 * callers do not return all at once. `random` is from 0 to 1.
 */
export function pauseMs(attempt: number, retryAfterMs: number | null, random = Math.random()): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  return retryAfterMs === null ? longest * (0.5 + random / 2) : retryAfterMs + longest * random;
}

/** The header Retry-After in milliseconds: seconds or a date. */
export function readRetryAfter(text: string | null, now = Date.now()): number | null {
  if (text === null) return null;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Rejects with the signal's reason when it is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
