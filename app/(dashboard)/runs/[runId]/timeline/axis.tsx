import clsx from "clsx";
import { type PointerEvent, useRef, useState } from "react";
import { IconButton } from "@/app/_ui/button";
import { formatSpan, percent } from "@/app/_ui/figures/format";
import { ZoomIcon } from "@/app/_ui/icons";
import { useKeyHint } from "@/app/_ui/page/page-keys";
import type { Measure } from "../measures";
import type { Workbench } from "../use-workbench";
import { axisTicks, describeRange, type Tick } from "./axis-ticks";
import { COLUMNS, type Scale, type TimeRange } from "./scale";

/** The scale above the bars: times, or the amount of the longest bar. Dragging over the time axis zooms in. */
export function Axis({
  bench: { setRange, zoom },
  scale,
  full,
  range,
}: {
  bench: Workbench;
  scale: Scale;
  full: Scale;
  range: TimeRange | null;
}) {
  const hints = { z: useKeyHint("z"), Z: useKeyHint("Z") };
  const zoomButton = useRef<HTMLButtonElement>(null);
  const byTime = scale.measure === "time";
  const momentAt = (part: number) => scale.start + part * scale.span;
  const { dragged, handlers } = useDrag(({ from, to }) =>
    setRange({ from: momentAt(from), to: momentAt(to) }),
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
            onClick={zoom}
            ref={zoomButton}
            title={`Zoom to the selected line${hints.z}, or drag over the axis`}
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
        {...(byTime ? handlers : null)}
      >
        <svg aria-hidden="true" className="block overflow-visible" height="16" width="100%">
          {(byTime ? axisTicks(from, from + scale.span) : ZERO).map((tick) => (
            <text
              className={`fill-faint text-xs tabular-nums ${fromWidth(tick.needs)}`}
              key={tick.at}
              textAnchor={tick.at === 0 ? "start" : "middle"}
              x={percent(tick.part)}
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
            setRange(null);
            zoomButton.current?.focus();
          }}
          title={`Show all${hints.Z}`}
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

/** In pixels. A shorter move is a click. */
const MIN_PX = 4;

/** In shares of the element's width. */
type Dragged = { from: number; to: number };

function useDrag(onDragged: (dragged: Dragged) => void) {
  const [drag, setDrag] = useState<{ anchor: number; at: number } | null>(null);
  const dragged = drag && between(drag.anchor, drag.at);
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = partAt(event);
      setDrag({ anchor: at, at });
    },
    onPointerMove: (event: PointerEvent) => {
      if (drag) setDrag({ ...drag, at: partAt(event) });
    },
    onPointerUp: (event: PointerEvent) => {
      setDrag(null);
      if (!drag) return;
      const last = between(drag.anchor, partAt(event));
      if ((last.to - last.from) * event.currentTarget.clientWidth >= MIN_PX) onDragged(last);
    },
    onPointerCancel: () => setDrag(null),
  };
  return { dragged, handlers };
}

function between(a: number, b: number): Dragged {
  return { from: Math.min(a, b), to: Math.max(a, b) };
}

function partAt({ currentTarget, clientX }: PointerEvent): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (clientX - left) / width));
}

function Band({ from, to }: Dragged) {
  return (
    <div aria-hidden="true" className={`${COLUMNS} pointer-events-none absolute inset-0 z-10`}>
      <svg aria-hidden="true" className="col-start-2 h-full overflow-visible" height="100%" width="100%">
        <rect
          className="fill-accent/15 stroke-accent"
          height="100%"
          width={percent(to - from)}
          x={percent(from)}
        />
      </svg>
    </div>
  );
}

const HEADS: Record<Measure, string> = { time: "", credits: "Credits", tokens: "Tokens" };
const ZERO: Tick[] = [{ at: 0, part: 0, label: "0", needs: 0 }];

/** In pixels. Tailwind generates classes from the source text. */
const FROM_WIDTH =
  "@max-[48px]:hidden @max-[64px]:hidden @max-[80px]:hidden @max-[92px]:hidden @max-[104px]:hidden @max-[116px]:hidden @max-[128px]:hidden @max-[160px]:hidden @max-[192px]:hidden @max-[224px]:hidden @max-[256px]:hidden @max-[320px]:hidden @max-[400px]:hidden @max-[560px]:hidden"
    .split(" ")
    .map((className) => ({ className, width: Number(/\d+/.exec(className)) }));

function fromWidth(needs: number): string {
  if (needs <= 0) return "";
  return FROM_WIDTH.find(({ width }) => width >= needs)?.className ?? "hidden";
}
