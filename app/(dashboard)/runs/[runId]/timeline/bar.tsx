import { percent } from "@/app/_ui/figures/format";
import type { Bar, Fill } from "./scale";

/** A line that took no time stays visible. */
const THINNEST = 0.006;

/** A line's bars. With several attempts, they are on a line through the delays. Outside the visible range, an arrow. */
export function BarShape({ bar: { rects, through, beyond } }: { bar: Bar }) {
  return (
    <svg aria-hidden="true" className="overflow-visible" height="12" width="100%">
      {beyond ? (
        <svg
          aria-hidden="true"
          className="overflow-visible fill-faint"
          x={beyond === "before" ? "0" : "100%"}
        >
          <path d={beyond === "before" ? "M5 2.5v7L0 6z" : "M-5 2.5v7L0 6z"} />
        </svg>
      ) : null}
      {through ? (
        <line
          className="stroke-line-strong"
          strokeWidth="2"
          x1={percent(through.from)}
          x2={percent(through.from + through.length)}
          y1="6"
          y2="6"
        />
      ) : null}
      {rects.map(({ from, fill, ...rect }, index) => {
        const length = Math.max(THINNEST, rect.length);
        return (
          <rect
            className={FILLS[fill]}
            height="10"
            // biome-ignore lint/suspicious/noArrayIndexKey: the first, the second, … attempt or failure.
            key={index}
            rx="1.5"
            strokeWidth="1"
            width={percent(length)}
            x={percent(Math.min(from, 1 - length))}
            y="1"
          />
        );
      })}
    </svg>
  );
}

const FILLS: Record<Fill, string> = {
  held: "fill-bar-step/35 stroke-none",
  wait: "fill-none stroke-muted [stroke-dasharray:3_2]",
  Waiting: "fill-none stroke-muted [stroke-dasharray:3_2]",
  call: "fill-bar-model stroke-bar-model",
  step: "fill-bar-step stroke-bar-step",
  Running: "fill-running stroke-running",
  Failed: "fill-failed stroke-failed",
  Tolerated: "fill-waiting-fill stroke-waiting-fill",
  Cancelled: "fill-cancelled-fill stroke-cancelled-fill",
};
