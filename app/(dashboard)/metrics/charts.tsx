"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useState } from "react";
import { formatDay, formatDuration, formatMinute } from "@/app/_ui/format";
import { useTimeZone } from "@/app/_ui/time";
import type { RunFilter } from "@/server/runs/filter";
import type { MetricsBucket, RunMetrics } from "@/server/runs/metrics";

/**
 * Charts drawn by hand as SVG in percentages: they need no measuring, so the server paints them and nothing moves.
 * They are pictures of the tables below them, to which screen readers are sent.
 */

type ChartProps = {
  metrics: RunMetrics;
  hrefOf: (bucket: MetricsBucket, change?: RunFilter) => string;
};

/** When a bar begins, as short as its width allows. Days are those of UTC: in New York, midnight UTC is the day before. */
export function bucketLabel(bucket: MetricsBucket, bucketMs: number, timeZone: string): string {
  const from = new Date(bucket.from);
  return bucketMs >= 86_400_000 ? formatDay(from, "UTC") : formatMinute(from, timeZone);
}

const STATUSES = [
  { field: "completed", label: "Completed", fill: "fill-completed", text: "text-completed" },
  { field: "failed", label: "Failed", fill: "fill-failed", text: "text-failed" },
  { field: "cancelled", label: "Cancelled", fill: "fill-cancelled", text: "text-cancelled" },
  { field: "open", label: "Pending or running", fill: "fill-running", text: "text-running" },
] as const;

/** Runs by status over time, stacked; failures on top of what went well. */
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
      hrefOf={hrefOf}
      legend={STATUSES.filter(({ field }) => metrics.total[field] > 0).map(({ label, fill }) => ({
        label,
        fill,
      }))}
      metrics={metrics}
      title="Runs by status over time"
      top={top}
    >
      {metrics.buckets.map((bucket, index) => {
        let below = 0;
        return STATUSES.map(({ field, fill }) => {
          const value = bucket[field];
          if (value === 0) return null;
          below += value;
          return (
            <rect
              className={fill}
              height={percent(value / top)}
              key={`${bucket.from} ${field}`}
              width={barWidth(metrics)}
              x={barLeft(metrics, index)}
              y={percent(1 - below / top)}
            />
          );
        });
      })}
    </Chart>
  );
}

/** One measure over time as bars. */
export function VolumeChart({
  metrics,
  hrefOf,
  name,
  measure,
  format,
}: ChartProps & {
  name: string;
  measure: (bucket: MetricsBucket) => number;
  format: (value: number) => string;
}) {
  const top = niceTop(Math.max(...metrics.buckets.map(measure)), false);
  return (
    <Chart
      explain={(bucket) => `${format(measure(bucket))} ${name}`}
      format={short}
      hrefOf={hrefOf}
      metrics={metrics}
      labels={3}
      title={`${name} over time`}
      top={top}
    >
      {metrics.buckets.map((bucket, index) => (
        <rect
          className="fill-bar-step"
          height={percent(measure(bucket) / top)}
          key={bucket.from}
          width={barWidth(metrics)}
          x={barLeft(metrics, index)}
          y={percent(1 - measure(bucket) / top)}
        />
      ))}
    </Chart>
  );
}

/** p50 and p95 of the durations as lines; a gap where nothing ended. */
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
      format={(value) => (value === 0 ? "0" : formatDuration(value).replace(/\.0+ /, " "))}
      hrefOf={hrefOf}
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
              <circle cx={x} cy={y} fill="var(--canvas)" r="2.5" strokeWidth="1.5" />
            </g>
          );
        }),
      )}
    </Chart>
  );
}

function Chart({
  metrics,
  top,
  title,
  format,
  explain,
  hrefOf,
  legend = [],
  labels = 6,
  children,
}: ChartProps & {
  /** How many moments are written below. */
  labels?: number;
  top: number;
  title: string;
  format: (value: number) => string;
  explain: (bucket: MetricsBucket) => ReactNode;
  legend?: { label: string; fill: string }[];
  children: ReactNode;
}) {
  const router = useRouter();
  const timeZone = useTimeZone();
  const [hovered, setHovered] = useState<number | null>(null);
  const shown = hovered === null ? undefined : metrics.buckets[hovered];
  const grid = [0, 0.25, 0.5, 0.75, 1];
  const every = Math.ceil(metrics.buckets.length / labels);
  return (
    <figure className="relative">
      <div className="flex h-6 items-start justify-between gap-4 text-xs">
        <figcaption className="flex gap-4 text-muted">
          {legend.map(({ label, fill }) => (
            <span className="inline-flex items-center gap-1.5" key={label}>
              <svg aria-hidden="true" height="8" width="8">
                <rect className={fill} height="8" rx="1.5" width="8" />
              </svg>
              {label}
            </span>
          ))}
        </figcaption>
      </div>
      <div className="grid grid-cols-[3.5rem_minmax(0,1fr)]">
        <svg aria-hidden="true" className="overflow-visible" height="180" width="100%">
          {grid.map((part) => (
            <text
              className="fill-muted"
              dominantBaseline="middle"
              fontSize="11"
              key={part}
              textAnchor="end"
              x="85%"
              y={percent(1 - part)}
            >
              {format(top * part)}
            </text>
          ))}
        </svg>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below holds the same links. */}
        <svg
          aria-label={`${title}. The same numbers stand in the table below.`}
          className="cursor-pointer overflow-visible"
          height="180"
          onClick={() => shown && router.push(hrefOf(shown))}
          onPointerLeave={() => setHovered(null)}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const at = Math.floor(((event.clientX - box.left) / box.width) * metrics.buckets.length);
            setHovered(Math.min(metrics.buckets.length - 1, Math.max(0, at)));
          }}
          role="img"
          width="100%"
        >
          <rect className="fill-transparent" height="100%" width="100%" />
          {grid.map((part) => (
            <line
              className={part === 0 ? "stroke-line-strong" : "stroke-line"}
              key={part}
              x1="0"
              x2="100%"
              y1={percent(1 - part)}
              y2={percent(1 - part)}
            />
          ))}
          {hovered === null ? null : (
            <rect
              className="fill-hover"
              height="100%"
              width={percent(1 / metrics.buckets.length)}
              x={percent(hovered / metrics.buckets.length)}
            />
          )}
          {children}
        </svg>
        <span />
        <svg aria-hidden="true" className="mt-1 overflow-visible" height="16" width="100%">
          {metrics.buckets.map((bucket, index) =>
            index % every === 0 ? (
              <text
                className={index % (every * 2) === 0 ? "fill-muted" : "fill-muted max-sm:hidden"}
                fontSize="11"
                key={bucket.from}
                x={percent(index / metrics.buckets.length)}
                y="11"
              >
                {bucketLabel(bucket, metrics.bucketMs, timeZone)}
              </text>
            ) : null,
          )}
        </svg>
      </div>
      {shown ? (
        <div
          className={`pointer-events-none absolute top-8 z-10 min-w-40 rounded-md border border-line-strong bg-raised px-2.5 py-1.5 shadow-raised ${
            (hovered ?? 0) < metrics.buckets.length / 2 ? "right-2" : "left-16"
          }`}
        >
          <div className="text-muted text-xs">{bucketLabel(shown, metrics.bucketMs, timeZone)}</div>
          {explain(shown)}
        </div>
      ) : null}
    </figure>
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}

function barWidth({ buckets }: RunMetrics): string {
  return percent(0.72 / buckets.length);
}

function barLeft({ buckets }: RunMetrics, index: number): string {
  return percent((index + 0.14) / buckets.length);
}

/** The next round number, of which quarters are still round; with `whole`, quarters of small counts are whole. */
export function niceTop(most: number, whole = true): number {
  if (most <= 4) return most <= 0 || whole ? 4 : niceTop(most * 100, false) / 100;
  const power = 10 ** Math.floor(Math.log10(most));
  if (whole && most < 40) return Math.ceil(most / 4) * 4;
  return (
    [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((factor) => factor * power).find((each) => each >= most) ??
    most
  );
}

function short(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(2))} M`;
  if (value >= 1_000) return `${Number((value / 1_000).toFixed(1))} k`;
  return String(Number(value.toPrecision(3)));
}
