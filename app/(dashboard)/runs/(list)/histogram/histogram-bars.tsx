import { type KeyboardEvent, type MouseEvent, type PointerEvent, useId, useRef, useState } from "react";
import { useTimeZone } from "@/app/_ui/data/clock";
import { formatSpan, percent } from "@/app/_ui/figures/format";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunHistogram } from "@/server/runs/read/metrics/histogram";
import { axisLabel } from "../../../../_ui/figures/buckets";
import { type FilterChange, without } from "../filter/filter-choices";
import { barsWithin, describeBars, type Marked, moveMark, withTimesOf } from "./marked-bars";

const AXIS_LABELS = 6;

type Props = { data: RunHistogram; filter: RunFilter; onChange: (change: FilterChange) => void };

/** Runs over time, failed ones in red. Choosing bars sets the filter's times. */
export function HistogramBars({ data: { bars, bucketMs, drafts }, filter, onChange }: Props) {
  const timeZone = useTimeZone();
  const id = useId();
  const [marked, setMarked] = useState<Marked | null>(null);
  const pressedAt = useRef<number | null>(null);
  const dragged = useRef(false);
  const chosen = barsWithin(bars, filter);
  const shown = marked ?? chosen;
  const top = Math.max(...bars.map(({ runs }) => runs));
  const describe = (part: Marked) => describeBars(bars, part, { bucketMs, timeZone });
  const choose = (part: Marked) => {
    setMarked(null);
    onChange(withTimesOf(bars, part));
  };
  const indexAt = ({ currentTarget, clientX }: MouseEvent) => {
    const box = currentTarget.getBoundingClientRect();
    const at = Math.floor(((clientX - box.left) / box.width) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, at));
  };
  function onPointerMove(event: PointerEvent) {
    const at = indexAt(event);
    const from = pressedAt.current;
    if (from !== null && from !== at && !dragged.current) {
      dragged.current = true;
      event.currentTarget.setPointerCapture(event.pointerId);
    }
    setMarked({ from: from ?? at, at });
  }
  function onClick(event: MouseEvent<HTMLElement>) {
    const wasDragged = dragged.current;
    dragged.current = false;
    if (wasDragged) return;
    // A click without a pointer comes from assistive technology.
    const option = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-bar]") : null;
    const at = event.detail === 0 && option ? Number(option.dataset.bar) : indexAt(event);
    choose({ from: at, at });
  }
  function onKeyDown(event: KeyboardEvent) {
    const now = marked ?? chosen ?? { from: bars.length - 1, at: bars.length - 1 };
    const next = moveMark(now, { key: event.key, extend: event.shiftKey, bars: bars.length });
    if (event.key === "Enter" || event.key === " ") choose(now);
    else if (next) setMarked(next);
    else return;
    event.preventDefault();
  }
  const every = Math.ceil(bars.length / AXIS_LABELS);
  return (
    <section aria-label="Runs over time" className="px-4 pt-1 sm:px-6">
      <div className="flex h-6 items-center gap-4 text-muted text-xs">
        <span className="whitespace-nowrap">
          {filter.source === "outside" ? "Root runs" : "Runs"} per {formatSpan(bucketMs)}
          {drafts > 0 ? ", without drafts" : null}
        </span>
        <span className="inline-flex items-center gap-1.5">
          <svg aria-hidden="true" height="8" width="8">
            <rect className="fill-failed-fill" height="8" rx="1.5" width="8" />
          </svg>
          failed
        </span>
        <span className="ml-auto min-w-0 truncate tabular-nums">
          {marked ? (
            <span className="text-ink">{describe(marked)}</span>
          ) : chosen ? (
            <button
              className="min-h-6 text-accent hover:underline"
              onClick={() => onChange((latest) => without(latest, "from", "to"))}
              type="button"
            >
              Show the last 7 days
            </button>
          ) : (
            <span className="max-sm:hidden">Click or drag to choose a period</span>
          )}
        </span>
      </div>
      {/* One stop of the tab key: the arrow keys move between the bars. */}
      <div
        aria-activedescendant={shown ? `${id}-${shown.at}` : undefined}
        aria-describedby={`${id}-keys`}
        aria-label={`Runs over time: ${describe({ from: 0, at: bars.length - 1 })}`}
        aria-multiselectable
        aria-orientation="horizontal"
        className="relative flex h-12 cursor-pointer touch-pan-y border-line-strong border-b"
        onBlur={() => setMarked(null)}
        onClick={onClick}
        onFocus={({ currentTarget }) => {
          if (currentTarget.matches(":focus-visible"))
            setMarked(chosen ?? { from: bars.length - 1, at: bars.length - 1 });
        }}
        onKeyDown={onKeyDown}
        onPointerCancel={() => {
          pressedAt.current = null;
          dragged.current = false;
          setMarked(null);
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          dragged.current = false;
          pressedAt.current = indexAt(event);
        }}
        onPointerLeave={() => {
          if (pressedAt.current === null || !dragged.current) setMarked(null);
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          pressedAt.current = null;
          if (dragged.current && marked) choose(marked);
        }}
        role="listbox"
        tabIndex={0}
      >
        {bars.map(({ from, runs, failed }, index) => (
          <div
            aria-label={describe({ from: index, at: index })}
            aria-selected={isMarked(shown, index)}
            className="h-full flex-1"
            data-bar={index}
            id={`${id}-${index}`}
            key={from}
            role="option"
            tabIndex={-1}
          >
            <svg aria-hidden="true" className="block" height="100%" width="100%">
              <rect
                className={isMarked(shown, index) ? "fill-hover" : "fill-transparent"}
                height="100%"
                width="100%"
              />
              <Part className="fill-bar-neutral" from={failed / top} to={runs / top} />
              <Part className="fill-failed-fill" from={0} to={failed / top} />
            </svg>
          </div>
        ))}
        {shown ? <Brush bars={bars.length} part={shown} /> : null}
      </div>
      <span className="sr-only" id={`${id}-keys`}>
        Arrow keys move between the bars. With Shift, they mark several. Enter shows the runs of the marked
        bars.
      </span>
      <svg aria-hidden="true" className="mt-1 block overflow-visible" height="16" width="100%">
        {bars.map((bar, index) =>
          index % every === 0 ? (
            <text
              className={index % (every * 2) === 0 ? "fill-faint" : "fill-faint max-sm:hidden"}
              fontSize="11"
              key={bar.from}
              x={percent(index / bars.length)}
              y="11"
            >
              {axisLabel(bar, {
                // Phones show every other label.
                before: bars[index - every * (index % (every * 2) === 0 ? 2 : 1)],
                bucketMs,
                timeZone,
              })}
            </text>
          ) : null,
        )}
      </svg>
    </section>
  );
}

function Part({ className, from, to }: { className: string; from: number; to: number }) {
  if (to <= from) return null;
  return <rect className={className} height={percent(to - from)} width="88%" x="6%" y={percent(1 - to)} />;
}

function Brush({ part, bars }: { part: Marked; bars: number }) {
  const [first, last] = [Math.min(part.from, part.at), Math.max(part.from, part.at)];
  return (
    <svg
      aria-hidden="true"
      className="pointer-events-none absolute inset-0 text-accent"
      height="100%"
      width="100%"
    >
      <rect
        className="fill-accent/10"
        height="100%"
        width={percent((last - first + 1) / bars)}
        x={percent(first / bars)}
      />
      {[first, last + 1].map((edge) => (
        <line
          key={edge}
          stroke="currentColor"
          strokeWidth="1.5"
          x1={percent(edge / bars)}
          x2={percent(edge / bars)}
          y1="0"
          y2="100%"
        />
      ))}
    </svg>
  );
}

function isMarked(part: Marked | null, index: number): boolean {
  return part !== null && index >= Math.min(part.from, part.at) && index <= Math.max(part.from, part.at);
}
