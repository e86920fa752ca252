import clsx from "clsx";
import type { ReactNode } from "react";

type FiguresProps = { label: string; narrow?: boolean; className?: string | undefined; children: ReactNode };

/** Key figures side by side, divided by lines. On a phone, and with `narrow`, there are two in a row. */
export function Figures({ label, narrow = false, className, children }: FiguresProps) {
  return (
    <section aria-label={label} className={clsx("border-line border-y", className)}>
      <dl
        className={clsx(
          "grid grid-cols-2 *:border-line *:nth-[n+3]:border-t *:even:border-l",
          narrow
            ? null
            : "lg:auto-cols-fr lg:grid-flow-col lg:grid-cols-none lg:*:nth-[n+2]:border-l lg:*:nth-[n+3]:border-t-0",
        )}
      >
        {children}
      </dl>
    </section>
  );
}

type FigureProps = {
  name: string;
  value: ReactNode;
  note?: ReactNode;
  chart?: ReactNode;
  className?: string;
};

/** One key figure: its name, the value, and a note that puts it in relation. */
export function Figure({ name, value, note, chart, className }: FigureProps) {
  return (
    <div className={clsx("min-w-0 px-4 py-3.5 sm:px-6", className)}>
      <dt className="text-muted text-xs">{name}</dt>
      <dd className="mt-1 flex items-center justify-between gap-2">
        <span className="whitespace-nowrap font-semibold text-figure tracking-[-0.02em]">{value}</span>
        {chart}
      </dd>
      {note ? <dd className="mt-1 text-muted text-xs">{note}</dd> : null}
    </div>
  );
}

/** A figure over time as a line without axes. A dot marks the newest value. */
export function Sparkline({ values, width = 92 }: { values: readonly number[]; width?: number }) {
  const top = Math.max(...values);
  const [height, pad] = [26, 3];
  if (values.length < 2 || top <= 0) return null;
  const points = values.map((value, index) => ({
    x: pad + (index / (values.length - 1)) * (width - 2 * pad),
    y: height - pad - (value / top) * (height - 2 * pad),
  }));
  const last = points.at(-1);
  return (
    // Without room, the oldest values are cut.
    <svg
      aria-hidden="true"
      className="hidden min-w-0 text-data-1 sm:block"
      height={height}
      preserveAspectRatio="xMaxYMid slice"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
    >
      <polyline
        fill="none"
        points={points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}
        stroke="currentColor"
        strokeLinejoin="round"
        strokeWidth="1.5"
      />
      <circle cx={last?.x} cy={last?.y} fill="currentColor" r="2.5" />
    </svg>
  );
}
