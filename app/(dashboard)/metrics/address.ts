import {
  METRICS_INTERVALS,
  type MetricsInterval,
  RUN_PERIODS,
  type RunPeriod,
} from "@/server/runs/read/enums";
import type { RunFilter } from "@/server/runs/read/filter";
import type { MetricsQuestion, MetricsSubject } from "@/server/runs/read/metrics";
import { readAddress, writeFilter } from "../runs/address";

/**
 * What the metrics page counts, as it stands in the address: `?period=7d&interval=3h&agent=…`, of one agent, tool, trigger
 * or key at most.
 */
const SUBJECTS = [
  ["agent", "agentId"],
  ["tool", "toolId"],
  ["trigger", "triggerId"],
  ["key", "apiKeyId"],
] as const;

/** Reads the question; what is no valid value is left out. */
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

/** The page's address with this question. An interval that is none of the period's, or its usual one, is left out. */
export function writeMetricsAddress({ period, interval, subject }: MetricsQuestion): string {
  const params = new URLSearchParams(writeFilter({ ...(subject ? filterOf(subject) : {}), period }));
  const [usual, ...others] = intervalsOf(period);
  if (interval && interval !== usual && others.includes(interval)) params.set("interval", interval);
  return `/metrics?${params}`;
}

/** The runs of a subject. */
export function filterOf({ dimension, id }: MetricsSubject): RunFilter {
  return { [SUBJECTS.find(([each]) => each === dimension)?.[1] ?? "agentId"]: id };
}

/** The intervals of a period, the usual one first. */
export function intervalsOf(period: RunPeriod): readonly [MetricsInterval, ...MetricsInterval[]] {
  return METRICS_INTERVALS[period];
}
