import type { RunDetail } from "@/server/runs/inspect";
import { amountOf, endOf, inWords, type Measure } from "./measures";
import { type Line, lineFacts } from "./timeline-lines";

/** Of every row and of the scale above them: name, bar, amount. In a narrow timeline the bars keep nearly half of the room. */
export const COLUMNS =
  "grid grid-cols-[minmax(0,7fr)_minmax(0,6fr)_5rem] items-center gap-2 px-4 sm:pl-6 @md/timeline:grid-cols-[minmax(0,11rem)_minmax(0,1fr)_5.5rem]";

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
