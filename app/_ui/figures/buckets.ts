import { formatDay, formatMinute, formatTimeOfDay } from "@/app/_ui/figures/format";
import { DAY_MS } from "@/server/base/clock";
import type { MetricsBucket } from "@/server/runs/read/metrics/metrics";

/** The start of a bar. Bars of days are UTC days and say so, because elsewhere days begin at another hour. */
export function bucketLabel(bucket: Pick<MetricsBucket, "from">, bucketMs: number, timeZone: string): string {
  const from = new Date(bucket.from);
  return bucketMs >= DAY_MS ? formatDay(from, "UTC") : formatMinute(from, timeZone);
}

/** The label below a chart. It has the day only if the label `before` has another one. */
export function axisLabel(
  bucket: Pick<MetricsBucket, "from">,
  {
    before,
    bucketMs,
    timeZone,
  }: { before: Pick<MetricsBucket, "from"> | undefined; bucketMs: number; timeZone: string },
): string {
  const from = new Date(bucket.from);
  const sameDay = before && formatDay(new Date(before.from), timeZone) === formatDay(from, timeZone);
  return bucketMs < DAY_MS && sameDay
    ? formatTimeOfDay(from, timeZone).slice(0, 5)
    : bucketLabel(bucket, bucketMs, timeZone);
}
