import { METRICS_DIMENSIONS } from "@/server/contract/enums";
import {
  isMetricsRange,
  METRICS_INTERVALS,
  type MetricsInterval,
  RUN_PERIODS,
  type RunPeriod,
} from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { MetricsQuestion, MetricsSubject } from "@/server/runs/read/metrics/metrics";
import { readFilter, writeFilter } from "../runs/address";

/**
 * The metrics page's query in the URL: `?period=7d&interval=3h&agent=…`, or UTC days with
 * `?first=2026-11-01&last=2026-11-15`. At most one agent, tool, trigger, key or schedule.
 */

const FIELDS = {
  agent: "agentId",
  tool: "toolId",
  trigger: "triggerId",
  key: "apiKeyId",
  schedule: "scheduleId",
} as const;

/** Reads the query from the URL and ignores invalid values. */
export function readMetricsAddress(
  params: Pick<URLSearchParams, "get" | "getAll" | "keys">,
): MetricsQuestion {
  const period = RUN_PERIODS.find((each) => each === params.get("period")) ?? "24h";
  const interval = intervalsOf(period).find((each) => each === params.get("interval"));
  const days = { first: params.get("first") ?? "", last: params.get("last") ?? "" };
  const question: MetricsQuestion = {
    period,
    ...(interval ? { interval } : {}),
    ...(isRange(days) ? { days } : {}),
  };
  const { filter } = readFilter(params);
  for (const dimension of METRICS_DIMENSIONS) {
    const id = filter[FIELDS[dimension]];
    if (id) return { ...question, subject: { dimension, id } };
  }
  return question;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Returns true if both are dates, in order and not too far apart. */
export function isRange(days: { first: string; last: string }): boolean {
  return DATE.test(days.first) && DATE.test(days.last) && isMetricsRange(days);
}

/** The page's URL for a query. An interval that is invalid for the period, or its default, is omitted. */
export function writeMetricsAddress({ period, interval, days, subject }: MetricsQuestion): string {
  const ofSubject = subject ? filterOf(subject) : {};
  const params = new URLSearchParams(
    writeFilter({ ...ofSubject, ...(days ? {} : { period }), source: "outside" }),
  );
  if (days) {
    params.set("first", days.first);
    params.set("last", days.last);
    return `/metrics?${params}`;
  }
  const [usual, ...others] = intervalsOf(period);
  if (interval && interval !== usual && others.includes(interval)) params.set("interval", interval);
  return `/metrics?${params}`;
}

export function filterOf({ dimension, id }: MetricsSubject): RunFilter {
  return { [FIELDS[dimension]]: id };
}

/** The intervals of a period, the default first. */
export function intervalsOf(period: RunPeriod): readonly [MetricsInterval, ...MetricsInterval[]] {
  return METRICS_INTERVALS[period];
}
