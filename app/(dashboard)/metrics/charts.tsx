"use client";

import { formatDuration, formatSpan, percent } from "@/app/_ui/figures/format";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { MetricsBucket, RunMetrics } from "@/server/runs/read/metrics/metrics";
import { Chart, niceTop } from "./chart";
import { figureFilters } from "./figures";

type ChartProps = {
  metrics: RunMetrics;
  hrefOf: (bucket: MetricsBucket, change?: RunFilter) => string;
};

const STATUSES = [
  { field: "completed", label: "Completed", fill: "fill-completed-fill", text: "text-completed" },
  { field: "failed", label: "Failed", fill: "fill-failed-fill", text: "text-failed" },
  { field: "cancelled", label: "Cancelled", fill: "fill-cancelled-fill", text: "text-cancelled" },
  { field: "open", label: "Pending or running", fill: "fill-running-fill", text: "text-running" },
] as const;

/** Runs by status over time, stacked, with failures on top. */
export function StatusChart({ metrics, hrefOf }: ChartProps) {
  const top = niceTop(Math.max(...metrics.buckets.map((bucket) => bucket.runs)));
  return (
    <Chart
      explain={(bucket) => (
        <>
          {STATUSES.map(({ field, label, text }) =>
            bucket[field] > 0 ? (
              <div className="flex justify-between gap-4" key={field}>
                <span className={text}>{label}</span>
                <span>{bucket[field]}</span>
              </div>
            ) : null,
          )}
          {bucket.runs === 0 ? <span className="text-muted">no runs</span> : null}
        </>
      )}
      format={String}
      hrefOf={(bucket, value) => hrefOf(bucket, statusAt(bucket, value))}
      legend={STATUSES.filter(({ field }) => metrics.total[field] > 0)}
      metrics={metrics}
      title="Runs by status over time"
      top={top}
    >
      <Bars
        metrics={metrics}
        parts={STATUSES.map(({ field, fill }) => ({ fill, measure: (bucket) => bucket[field] }))}
        top={top}
      />
    </Chart>
  );
}

type BarsProps = {
  metrics: RunMetrics;
  top: number;
  parts: readonly { fill: string; measure: (bucket: MetricsBucket) => number }[];
};

function Bars({ metrics: { buckets }, top, parts }: BarsProps) {
  return buckets.map((bucket, index) => {
    let sum = 0;
    return parts.map(({ fill, measure }) => {
      const value = measure(bucket);
      if (value === 0) return null;
      sum += value;
      return (
        <rect
          className={fill}
          height={percent(value / top)}
          key={`${bucket.from} ${fill}`}
          width={percent(0.72 / buckets.length)}
          x={percent((index + 0.14) / buckets.length)}
          y={percent(1 - sum / top)}
        />
      );
    });
  });
}

function statusAt(bucket: MetricsBucket, height: number): RunFilter {
  let sum = 0;
  const status = STATUSES.find(({ field }) => {
    sum += bucket[field];
    return height < sum;
  });
  return status ? figureFilters(bucket)[status.field] : {};
}

type VolumeChartProps = ChartProps & {
  name: string;
  height?: number;
  measure: (bucket: MetricsBucket) => number;
  format: (value: number) => string;
};

export function VolumeChart({ metrics, hrefOf, name, measure, format, height }: VolumeChartProps) {
  const top = niceTop(Math.max(...metrics.buckets.map(measure)), false);
  return (
    <Chart
      explain={(bucket) => `${format(measure(bucket))} ${name}`}
      format={short}
      height={height}
      hrefOf={(bucket) => hrefOf(bucket)}
      labels={3}
      metrics={metrics}
      title={`${name} over time`}
      top={top}
    >
      <Bars metrics={metrics} parts={[{ fill: "fill-data-2", measure }]} top={top} />
    </Chart>
  );
}

/** p50 and p95 of the durations as lines, with a gap where no run ended. */
export function DurationChart({ metrics, hrefOf }: ChartProps) {
  const top = niceTop(Math.max(...metrics.buckets.map((bucket) => bucket.p95 ?? 0)));
  const lines = [
    { field: "p95", className: "stroke-ink", dash: "4 3" },
    { field: "p50", className: "stroke-accent", dash: undefined },
  ] as const;
  const middle = (index: number) => (index + 0.5) / metrics.buckets.length;
  return (
    <Chart
      explain={(bucket) =>
        bucket.p50 === null || bucket.p95 === null
          ? "no run ended"
          : `p50 ${formatDuration(bucket.p50)}, p95 ${formatDuration(bucket.p95)}`
      }
      format={(value) => (value === 0 ? "0" : formatSpan(value))}
      hrefOf={(bucket) => hrefOf(bucket)}
      legend={[
        { label: "p50", fill: "fill-accent" },
        { label: "p95, dashed", fill: "fill-ink" },
      ]}
      metrics={metrics}
      title="Duration over time, p50 and p95"
      top={top}
    >
      {lines.map(({ field, className, dash }) =>
        metrics.buckets.map((bucket, index) => {
          const value = bucket[field];
          const before = metrics.buckets[index - 1]?.[field] ?? null;
          if (value === null) return null;
          const x = percent(middle(index));
          const y = percent(1 - value / top);
          return (
            <g className={className} key={`${field} ${bucket.from}`}>
              {before === null ? null : (
                <line
                  strokeDasharray={dash}
                  strokeWidth="1.5"
                  x1={percent(middle(index - 1))}
                  x2={x}
                  y1={percent(1 - before / top)}
                  y2={y}
                />
              )}
              <circle cx={x} cy={y} fill="var(--color-canvas)" r="2.5" strokeWidth="1.5" />
            </g>
          );
        }),
      )}
    </Chart>
  );
}

function short(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(2))} M`;
  if (value >= 1_000) return `${Number((value / 1_000).toFixed(1))} k`;
  return String(Number(value.toPrecision(3)));
}
