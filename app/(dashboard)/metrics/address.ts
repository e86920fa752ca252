import type { RunFilter } from "@/server/runs/filter";
import { RUN_PERIODS, type RunPeriod } from "@/server/runs/words";
import { readFilter } from "../runs/address";

/** What the metrics page counts, as it stands in the address: `?period=7d&agent=…`. */
export function readMetricsAddress(params: { get(name: string): string | null }): {
  period: RunPeriod;
  filter: RunFilter;
} {
  const { period: _, from: __, to: ___, ...filter } = readFilter(params);
  return { period: RUN_PERIODS.find((period) => period === params.get("period")) ?? "24h", filter };
}
