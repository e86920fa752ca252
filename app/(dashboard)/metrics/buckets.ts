import { formatDay, formatMinute } from "@/app/_ui/format";
import type { MetricsBucket } from "@/server/runs/metrics";

const DAY_MS = 86_400_000;

/**
 * When a bar begins, as short as its width allows. Bars of days are days of UTC and called so: in New York, their midnight
 * is still the evening before.
 */
export function bucketLabel(bucket: Pick<MetricsBucket, "from">, bucketMs: number, timeZone: string): string {
  const from = new Date(bucket.from);
  return bucketMs >= DAY_MS ? formatDay(from, "UTC") : formatMinute(from, timeZone);
}
