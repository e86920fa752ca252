import { axisTicks, type Tick } from "./axis-ticks";
import type { Measure } from "./measures";
import { COLUMNS, type Scale } from "./timeline-scale";

/** The scale above the bars: round moments, as many as there is room for, or what the longest bar stands for. */
export function Axis({ scale }: { scale: Scale }) {
  return (
    <div aria-hidden="true" className={`${COLUMNS} h-8 border-line border-y text-faint text-xs`}>
      <span>Timeline</span>
      <div className="@container min-w-0">
        <svg aria-hidden="true" className="block overflow-visible" height="16" width="100%">
          {(scale.measure === "time" ? axisTicks(0, scale.span) : ZERO).map((tick) => (
            <text
              className={`mono fill-faint ${fromWidth(tick.needs)}`}
              fontSize="11"
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
      <span className="text-right">{HEADS[scale.measure]}</span>
    </div>
  );
}

const HEADS: Record<Measure, string> = { time: "", credits: "Credits", tokens: "Tokens" };
const ZERO: Tick[] = [{ at: 0, part: 0, label: "0", needs: 0 }];

/** Shown where the axis is at least so wide, in pixels; written out, for the styles are made from what stands here. */
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
