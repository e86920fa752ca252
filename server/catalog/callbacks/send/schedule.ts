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

/** An endpoint that fails for so long is disabled. */
export const DISABLED_AFTER_MS = 3 * DAY_MS;

/** Longer than each pause: a failing endpoint that has had no attempt for so long was not tried. */
export const LONGEST_PAUSE_MS = DAY_MS;

/** The pause after the `failures`th failed attempt, up to a tenth longer; null: it is not tried again. */
export function pauseAfter(failures: number, random: () => number = Math.random): number | null {
  const pause = PAUSES_MS[failures - 1];
  return pause === undefined ? null : Math.round(pause * (1 + random() / 10));
}
