import { DAY_MS, HOUR_MS } from "@/server/base/clock";

const MINUTE_MS = 60_000;

// The pauses after the first failed attempts. Together they are just over three days.
const PAUSES_MS = [
  5_000,
  30_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  20.5 * HOUR_MS,
];

/** An endpoint that fails for this time is disabled. */
export const DISABLED_AFTER_MS = 3 * DAY_MS;

/** Longer than each pause: a failing endpoint without an attempt for this time was not tried. */
export const LONGEST_PAUSE_MS = DAY_MS;

// As long as the receiver asks for, but shorter than LONGEST_PAUSE_MS: otherwise it would never count as failing for days.
const LONGEST_RETRY_AFTER_MS = 20 * HOUR_MS;

/**
 * The pause after the `failures`th failed attempt, up to a tenth longer than planned; `retryAfterMs` if that is longer,
 * up to 20 hours. Null: it is not tried again.
 */
export function pauseAfter(
  failures: number,
  {
    retryAfterMs = 0,
    random = Math.random,
  }: { retryAfterMs?: number | undefined; random?: () => number } = {},
): number | null {
  const pause = PAUSES_MS[failures - 1];
  if (pause === undefined) return null;
  return Math.round(Math.max(pause * (1 + random() / 10), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)));
}
