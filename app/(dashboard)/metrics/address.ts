import {
  METRICS_INTERVALS,
  type MetricsInterval,
  RUN_PERIODS,
  type RunPeriod,
} from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import type { MetricsQuestion, MetricsSubject } from "@/server/runs/read/metrics";
import { readAddress, writeFilter } from "../runs/address";

/** The metrics page's query in the URL: `?period=7d&interval=3h&agent=…`, for at most one agent, tool, trigger or key. */
const SUBJECTS = [
  ["agent", "agentId"],
  ["tool", "toolId"],
  ["trigger", "triggerId"],
  ["key", "apiKeyId"],
] as const;

/** Reads the query from the URL and ignores invalid values. */
export function readMetricsAddress(
  params: Pick<URLSearchParams, "get" | "getAll" | "keys">,
): MetricsQuestion {
  const period = RUN_PERIODS.find((each) => each === params.get("period")) ?? "24h";
  const interval = intervalsOf(period).find((each) => each === params.get("interval"));
  const question: MetricsQuestion = interval ? { period, interval } : { period };
  const { filter } = readAddress(params);
  for (const [dimension, field] of SUBJECTS) {
    const id = filter[field];
    if (id) return { ...question, subject: { dimension, id } };
  }
  return question;
}

/** The page's URL for a query. An interval that is invalid for the period, or its default, is omitted. */
export function writeMetricsAddress({ period, interval, subject }: MetricsQuestion): string {
  const params = new URLSearchParams(writeFilter({ ...(subject ? filterOf(subject) : {}), period }));
  const [usual, ...others] = intervalsOf(period);
  if (interval && interval !== usual && others.includes(interval)) params.set("interval", interval);
  return `/metrics?${params}`;
}

/** The filter for a subject's runs. */
export function filterOf({ dimension, id }: MetricsSubject): RunFilter {
  return { [SUBJECTS.find(([each]) => each === dimension)?.[1] ?? "agentId"]: id };
}

/** The intervals of a period, the default first. */
export function intervalsOf(period: RunPeriod): readonly [MetricsInterval, ...MetricsInterval[]] {
  return METRICS_INTERVALS[period];
}
