import clsx from "clsx";
import { useRef } from "react";
import { IconButton } from "@/app/_ui/button";
import { formatSpan } from "@/app/_ui/figures/format";
import { ZoomIcon } from "@/app/_ui/icons";
import { axisTicks, describeRange, type Tick } from "./axis-ticks";
import type { Measure } from "./measures";
import { COLUMNS, type Scale, type TimeRange } from "./scale";
import { type Dragged, useDrag } from "./use-drag";

/**
 * The scale above the bars: round times, or the amount of the longest bar. Dragging over the time axis zooms in. A
 * zoomed axis shows its range and a button to zoom out.
 */
export function Axis({
  scale,
  full,
  range,
  onRangeChange,
  onZoom,
}: {
  /** The scale of the bars, and the scale without zoom. */
  scale: Scale;
  full: Scale;
  range: TimeRange | null;
  onRangeChange: (range: TimeRange | null) => void;
  onZoom: () => void;
}) {
  const zoom = useRef<HTMLButtonElement>(null);
  const byTime = scale.measure === "time";
  const momentAt = (part: number) => scale.start + part * scale.span;
  const { dragged, handlers } = useDrag(({ from, to }) =>
    onRangeChange({ from: momentAt(from), to: momentAt(to) }),
  );
  const from = scale.start - full.start;
  const shown = range ? describeRange(from, from + scale.span) : undefined;
  return (
    <div className={`${COLUMNS} h-8 border-line border-y text-faint text-xs`}>
      <span className="flex min-w-0 items-center justify-between gap-1">
        <span aria-live="polite" className={range ? "truncate text-ink" : undefined} title={shown}>
          {shown ?? "Timeline"}
        </span>
        {byTime ? (
          <IconButton
            className="-my-1 -mr-1"
            label="Zoom to the selected line"
            onClick={onZoom}
            ref={zoom}
            title="Zoom to the selected line (z), or drag over the axis"
          >
            <ZoomIcon size={14} />
          </IconButton>
        ) : null}
      </span>
      <div
        className={clsx(
          "@container flex h-full min-w-0 items-center",
          byTime && "cursor-crosshair touch-pan-y select-none",
        )}
        {...(byTime ? handlers : {})}
      >
        <svg aria-hidden="true" className="block overflow-visible" height="16" width="100%">
          {(byTime ? axisTicks(from, from + scale.span) : ZERO).map((tick) => (
            <text
              className={`fill-faint text-xs tabular-nums ${fromWidth(tick.needs)}`}
              key={tick.at}
              textAnchor={tick.at === 0 ? "start" : "middle"}
              x={`${tick.part * 100}%`}
              y="12"
            >
              {tick.label}
            </text>
          ))}
        </svg>
      </div>
      {range ? (
        <button
          aria-label={`Show all ${formatSpan(full.span)}`}
          className="justify-self-end rounded text-accent hover:underline"
          onClick={() => {
            onRangeChange(null);
            zoom.current?.focus();
          }}
          title="Show all (Z)"
          type="button"
        >
          Show all
        </button>
      ) : (
        <span className="text-right">{HEADS[scale.measure]}</span>
      )}
      {dragged ? <Band {...dragged} /> : null}
    </div>
  );
}

/** The dragged range, across all rows. */
function Band({ from, to }: Dragged) {
  return (
    <div aria-hidden="true" className={`${COLUMNS} pointer-events-none absolute inset-0 z-10`}>
      <svg aria-hidden="true" className="col-start-2 h-full overflow-visible" height="100%" width="100%">
        <rect
          className="fill-accent/15 stroke-accent"
          height="100%"
          width={`${(to - from) * 100}%`}
          x={`${from * 100}%`}
        />
      </svg>
    </div>
  );
}

const HEADS: Record<Measure, string> = { time: "", credits: "Credits", tokens: "Tokens" };
const ZERO: Tick[] = [{ at: 0, part: 0, label: "0", needs: 0 }];

/** Shown from this width of the axis in pixels. Written out, because Tailwind generates classes from the source text. */
const FROM_WIDTH = [
  [48, "@max-[48px]:hidden"],
  [64, "@max-[64px]:hidden"],
  [80, "@max-[80px]:hidden"],
  [92, "@max-[92px]:hidden"],
  [104, "@max-[104px]:hidden"],
  [116, "@max-[116px]:hidden"],
  [128, "@max-[128px]:hidden"],
  [160, "@max-[160px]:hidden"],
  [192, "@max-[192px]:hidden"],
  [224, "@max-[224px]:hidden"],
  [256, "@max-[256px]:hidden"],
  [320, "@max-[320px]:hidden"],
  [400, "@max-[400px]:hidden"],
  [560, "@max-[560px]:hidden"],
] as const;

function fromWidth(needs: number): string {
  if (needs <= 0) return "";
  return FROM_WIDTH.find(([width]) => width >= needs)?.[1] ?? "hidden";
}
