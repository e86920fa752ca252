import { DAY_MS } from "@/server/base/clock";
import { RUN_SOURCES, type RunStatus } from "@/server/contract/enums";
import { KIB } from "@/server/contract/sizes";

/** Pages use them: import no code that only a server runs. */

/**
 * The sources that a filter can name. `outside`: any but another run; `saved`: any but a draft, as metrics count
 * them.
 */
export const SOURCE_CHOICES = [...RUN_SOURCES, "outside", "saved"] as const;

/**
 * The statuses as lists show them: a `Running` run that waits for a slot is shown as `Waiting`, and only found as
 * such.
 */
export const LISTED_STATUSES = [
  "Pending",
  "Running",
  "Waiting",
  "Completed",
  "Failed",
  "Cancelled",
] as const satisfies readonly (RunStatus | "Waiting")[];
export type ListedStatus = (typeof LISTED_STATUSES)[number];
export const OPEN_LISTED_STATUSES = [
  "Pending",
  "Running",
  "Waiting",
] as const satisfies readonly ListedStatus[];

export const RUN_PERIODS = ["1h", "24h", "7d", "30d", "90d"] as const;
export type RunPeriod = (typeof RUN_PERIODS)[number];

/** The characters of inputs and errors in lists. */
export const PREVIEW_LENGTH = 200;
export const MAX_RUNS_PER_CALL = 200;
export const MAX_FOUND_IDS = 1_000;
/** More child runs of a run are only on its page. */
export const MAX_LISTED_CHILDREN = 200;
/** More runs of a status are not counted: a count of all would read them all. */
export const MAX_COUNTED_RUNS = 1_000;
/** The characters of each text that a search within a large run covers. */
export const SEARCHED_START = 64 * KIB;
/** The longest text that a search takes, in characters. */
export const MAX_SEARCH_LENGTH = 200;

export const PERIOD_MS: Record<RunPeriod, number> = {
  "1h": DAY_MS / 24,
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
  "90d": 90 * DAY_MS,
};

/** The intervals of a period's metrics; the first is the default. Each divides its period into at most 100 parts. */
export const METRICS_INTERVALS = {
  "1h": ["2m", "1m", "5m"],
  "24h": ["1h", "15m", "3h"],
  "7d": ["6h", "3h", "1d"],
  "30d": ["1d", "12h", "3d"],
  "90d": ["3d", "1d", "10d"],
} as const satisfies Record<RunPeriod, readonly [string, ...string[]]>;
export type MetricsInterval = (typeof METRICS_INTERVALS)[RunPeriod][number];

export function intervalMs(interval: MetricsInterval): number {
  const unit = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const [letter] = (["m", "h", "d"] as const).filter((each) => interval.endsWith(each));
  return Number.parseInt(interval, 10) * unit[letter ?? "m"];
}

export const MAX_METRICS_DAYS = 366;

type Days = { first: string; last: string };

/** Returns true if both dates are in order and not too far apart. The day after 9999-12-31 has no ISO 8601 date. */
export function isMetricsRange(days: Days): boolean {
  const count = countDays(days);
  return count >= 1 && count <= MAX_METRICS_DAYS && days.last < "9999";
}

/** The number of UTC days in a range of dates, both included. */
export function countDays({ first, last }: Days): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}
