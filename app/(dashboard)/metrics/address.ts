import type { RunFilter } from "@/server/runs/filter";
import type { MetricsSubject } from "@/server/runs/metrics";
import { RUN_PERIODS, type RunPeriod } from "@/server/runs/words";
import { readFilter } from "../runs/address";

const SUBJECTS = [
  ["agent", "agentId"],
  ["tool", "toolId"],
  ["trigger", "triggerId"],
  ["key", "apiKeyId"],
] as const;

/**
 * What the metrics page counts, as it stands in the address: `?period=7d&agent=…`, of one agent, tool, trigger or key at
 * most; and the filter of the runs that its figures lead to.
 */
export function readMetricsAddress(params: { get(name: string): string | null }): {
  period: RunPeriod;
  subject: MetricsSubject | undefined;
  filter: RunFilter;
} {
  const period = RUN_PERIODS.find((each) => each === params.get("period")) ?? "24h";
  const filter = readFilter(params);
  for (const [dimension, field] of SUBJECTS) {
    const id = filter[field];
    if (id) return { period, subject: { dimension, id }, filter: { [field]: id } };
  }
  return { period, subject: undefined, filter: {} };
}
