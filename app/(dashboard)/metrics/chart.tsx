"use client";

import clsx from "clsx";
import { useRouter } from "next/navigation";
import { type MouseEvent, type ReactNode, useState } from "react";
import { useTimeZone } from "@/app/_ui/data/clock";
import { serverTime } from "@/app/_ui/data/server-clock";
import { axisLabel, bucketLabel } from "@/app/_ui/figures/buckets";
import { percent } from "@/app/_ui/figures/format";
import type { MetricsBucket, RunMetrics } from "@/server/runs/read/metrics/metrics";

/**
 * The frame of a chart. An SVG in percentages needs no measuring, so the server can render it. Screen readers get
 * the tables below instead.
 */
export function Chart({
  metrics,
  top,
  title,
  format,
  explain,
  hrefOf,
  legend = [],
  labels = 4,
  height = 180,
  children,
}: {
  metrics: RunMetrics;
  hrefOf: (bucket: MetricsBucket, value: number) => string;
  labels?: number;
  /** In pixels. */
  height?: number | undefined;
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
      <div className="min-h-6 pb-2 text-xs">
        <figcaption className="flex flex-wrap gap-x-4 text-muted">
          {legend.map(({ label, fill }) => (
            <span className="inline-flex items-center gap-1.5 whitespace-nowrap" key={label}>
              <svg aria-hidden="true" height="8" width="8">
                <rect className={fill} height="8" rx="1.5" width="8" />
              </svg>
              {label}
            </span>
          ))}
        </figcaption>
      </div>
      <div className="grid grid-cols-[3.5rem_minmax(0,1fr)]">
        <svg aria-hidden="true" className="overflow-visible" height={height} width="100%">
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
        <div className="relative">
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below holds the same links. */}
          <svg
            aria-label={`${title}. The table below has the same numbers.`}
            className="cursor-pointer overflow-visible"
            height={height}
            onClick={(event) => {
              // Touch screens send no hover before a tap.
              const { index, height } = positionOf(event, metrics.buckets.length);
              const bucket = metrics.buckets[index];
              if (bucket) router.push(hrefOf(bucket, height * top));
            }}
            onPointerLeave={() => setHovered(null)}
            onPointerMove={(event) => setHovered(positionOf(event, metrics.buckets.length).index)}
            role="img"
            width="100%"
          >
            <rect className="fill-transparent" height="100%" width="100%" />
            {/* Only the area above takes the pointer: a click on a bar that new numbers replace would be lost. */}
            <g className="pointer-events-none">
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
            </g>
          </svg>
          {shown && hovered !== null ? (
            <div
              className={clsx(
                "pointer-events-none absolute top-2 z-10 mx-3 w-max min-w-40 rounded-md border border-line-strong bg-raised px-2.5 py-1.5 shadow-raised",
                hovered >= metrics.buckets.length / 2 && "-translate-x-[calc(100%+1.5rem)]",
              )}
              style={{ left: percent((hovered + 0.5) / metrics.buckets.length) }}
            >
              <div className="text-muted text-xs">
                {bucketLabel(shown, metrics.bucketMs, timeZone)}
                {new Date(shown.to).getTime() > serverTime() ? ", so far" : null}
              </div>
              {explain(shown)}
            </div>
          ) : null}
        </div>
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
                {axisLabel(
                  bucket,
                  // Phones show every other label.
                  {
                    before: metrics.buckets[index - every * (index % (every * 2) === 0 ? 2 : 1)],
                    bucketMs: metrics.bucketMs,
                    timeZone,
                  },
                )}
              </text>
            ) : null,
          )}
        </svg>
      </div>
    </figure>
  );
}

/** `height`: 0 at the bottom, 1 at the top. */
function positionOf(event: MouseEvent<SVGSVGElement>, bars: number): { index: number; height: number } {
  const box = event.currentTarget.getBoundingClientRect();
  const at = Math.floor(((event.clientX - box.left) / box.width) * bars);
  const index = Math.min(bars - 1, Math.max(0, at));
  return { index, height: 1 - (event.clientY - box.top) / box.height };
}

/** The next round number whose quarters are round, too; with `integers`, quarters of small counts are integers. */
export function niceTop(most: number, integers = true): number {
  if (most <= 4) return most <= 0 || integers ? 4 : niceTop(most * 100, false) / 100;
  const power = 10 ** Math.floor(Math.log10(most));
  if (integers && most < 40) return Math.ceil(most / 4) * 4;
  return (
    [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((factor) => factor * power).find((each) => each >= most) ??
    most
  );
}
