import { classNames } from "@/app/_ui/class-names";
import type { RunDetail } from "@/server/runs/inspect";
import { amountOf, endOf, inWords, type Measure } from "./measures";
import { type Line, lineFacts } from "./timeline-lines";

/** Of every row and of the scale above them: name, bar, amount. */
export const COLUMNS =
  "grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)_5rem] items-center gap-2 px-4 sm:pl-6 sm:grid-cols-[minmax(0,11rem)_minmax(0,1fr)_5.5rem]";

/** Where bars begin and how long they are: on an axis of time, or all from the left. */
export type Scale = { measure: Measure; start: number; span: number };

/** The scale of these lines; open ones end now. */
export function scaleOf(run: RunDetail, lines: Line[], measure: Measure, now: number): Scale {
  if (measure !== "time") {
    const most = lines.reduce((max, line) => Math.max(max, amountOf(line, measure, now)), 0);
    return { measure, start: 0, span: Math.max(1, most) };
  }
  const start = new Date(run.startedAt ?? run.createdAt).getTime();
  const last = lines.reduce((latest, line) => Math.max(latest, endOf(line, now)), start);
  const end = run.finishedAt ? Math.max(new Date(run.finishedAt).getTime(), last) : Math.max(now, last);
  return { measure, start, span: Math.max(1, end - start) };
}

/** A line's bar, in parts of the whole width, and its amount in words. */
export type Bar = { from: number; length: number; words: string };

/** The bar of one line. */
export function barOf(line: Line, { measure, start, span }: Scale, now: number): Bar {
  const amount = amountOf(line, measure, now);
  const from = measure === "time" ? Math.max(0, new Date(lineFacts(line).startedAt).getTime() - start) : 0;
  return { from: from / span, length: amount / span, words: inWords(amount, measure) };
}

/** The scale above the bars: a few round moments, or what the longest bar stands for. */
export function Axis({ measure, scale }: { measure: Measure; scale: Scale }) {
  const ticks = measure === "time" ? roundTicks(scale.span) : [0];
  return (
    <div aria-hidden="true" className={`${COLUMNS} h-8 border-line border-y text-faint text-xs`}>
      <span>Timeline</span>
      <svg aria-hidden="true" className="overflow-visible" height="16" width="100%">
        {ticks.map((tick, index) => (
          <text
            className={classNames("mono fill-faint", index % 2 === 1 && ticks.length > 3 && "max-xl:hidden")}
            fontSize="11"
            key={tick}
            textAnchor={tick === 0 ? "start" : "middle"}
            x={`${(tick / scale.span) * 100}%`}
            y="12"
          >
            {measure === "time" ? formatTick(tick) : "0"}
          </text>
        ))}
      </svg>
      <span className="text-right">{HEADS[measure]}</span>
    </div>
  );
}

const HEADS: Record<Measure, string> = { time: "", credits: "Credits", tokens: "Tokens" };

/** At most five round moments from 0, in ms. */
export function roundTicks(span: number): number[] {
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const scale =
    rough > 20_000
      ? ([30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000].find((each) => each >= rough) ??
        7_200_000)
      : ([1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough);
  const ticks: number[] = [];
  for (let tick = 0; tick <= span * 0.97; tick += Math.max(1, scale)) ticks.push(Math.round(tick));
  return ticks;
}

function formatTick(ms: number): string {
  if (ms === 0) return "0";
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return `${Number((ms / 60_000).toFixed(1))} min`;
}
