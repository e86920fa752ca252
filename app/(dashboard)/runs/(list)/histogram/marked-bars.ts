import { formatCount, formatDay, formatPlural, formatTimeOfDay } from "@/app/_ui/figures/format";
import { DAY_MS } from "@/server/base/clock";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunHistogram } from "@/server/runs/read/metrics/histogram";
import { type FilterChange, without } from "../filter/filter-choices";

type Bars = RunHistogram["bars"];

/** Bars from where a mark began to where it is now, in either direction. */
export type Marked = { from: number; at: number };

const ends = ({ from, at }: Marked) => [Math.min(from, at), Math.max(from, at)] as const;

/** The bars that a filter's fixed times include; null without fixed times. */
export function barsWithin(bars: Bars, { from, to }: RunFilter): Marked | null {
  if (from === undefined && to === undefined) return null;
  const inside = bars.flatMap((bar, index) =>
    (from === undefined || bar.to > from) && (to === undefined || bar.from < to) ? index : [],
  );
  const [first] = inside;
  return first === undefined ? null : { from: first, at: inside.at(-1) ?? first };
}

export function withTimesOf(bars: Bars, part: Marked): FilterChange {
  const [first, last] = ends(part);
  const [from, to] = [bars[first]?.from, bars[last]?.to];
  return (filter) =>
    from === undefined || to === undefined ? filter : { ...without(filter, "period"), from, to };
}

/** The mark after a key; null if the key does not move it. */
export function moveMark(
  { from, at }: Marked,
  { key, extend, bars }: { key: string; extend: boolean; bars: number },
): Marked | null {
  const moved = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars - 1 }[key];
  if (moved === undefined) return null;
  const next = Math.min(bars - 1, Math.max(0, moved));
  return { from: extend ? from : next, at: next };
}

/** `25 Nov 06:00 to 12:00: 112 runs, 32 failed`. Bars of days are UTC days. */
export function describeBars(
  bars: Bars,
  part: Marked,
  { bucketMs, timeZone }: { bucketMs: number; timeZone: string },
): string {
  const [first, last] = ends(part);
  const inside = bars.slice(first, last + 1);
  const runs = inside.reduce((sum, bar) => sum + bar.runs, 0);
  const failed = inside.reduce((sum, bar) => sum + bar.failed, 0);
  const [from, to] = [new Date(inside[0]?.from ?? 0), new Date(inside.at(-1)?.to ?? 0)];
  const counts = `${formatPlural(runs, "run")}${failed > 0 ? `, ${formatCount(failed)} failed` : ""}`;
  return `${bucketMs >= DAY_MS ? describeDays(from, to) : describeTimes(from, to, timeZone)}: ${counts}`;
}

function describeDays(from: Date, to: Date): string {
  const [first, last] = [formatDay(from, "UTC"), formatDay(new Date(to.getTime() - 1), "UTC")];
  return first === last ? first : `${first} to ${last}`;
}

function describeTimes(from: Date, to: Date, timeZone: string): string {
  const [day, lastDay] = [formatDay(from, timeZone), formatDay(to, timeZone)];
  const [begin, end] = [from, to].map((at) => formatTimeOfDay(at, timeZone).slice(0, 5));
  return `${day} ${begin} to ${day === lastDay ? "" : `${lastDay} `}${end}`;
}
