import { formatDuration } from "@/app/_ui/figures/format";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { isWork, type Line, type LineStatus, MIN_SHOWN_WAIT_MS, type Row } from "../lines";
import { amountOf, endOf, formatAmount, type Measure } from "../measures";

/**
 * The columns of each row and of the axis: name, bar, amount. A narrow timeline gives most of its width to the names.
 */
export const COLUMNS =
  "grid grid-cols-[minmax(0,9fr)_minmax(0,5fr)_4.5rem] items-center gap-2 px-4 sm:pl-6 @md/timeline:grid-cols-[minmax(0,12rem)_minmax(0,1fr)_5.5rem] @2xl/timeline:grid-cols-[minmax(0,16rem)_minmax(0,1fr)_5.5rem]";

/** The start and length of bars: on a time axis in ms, otherwise all from the left. */
export type Scale = { measure: Measure; start: number; span: number };

/** The zoomed time range, in ms since 1970. */
export type TimeRange = { from: number; to: number };

/** The scale of these lines, including waits. Open lines end now. */
export function scaleOf(
  run: RunDetail,
  { lines, measure, now }: { lines: Line[]; measure: Measure; now: number },
): Scale {
  if (measure !== "time") {
    const most = lines.reduce((max, line) => Math.max(max, amountOf(line, measure, now)), 0);
    return { measure, start: 0, span: Math.max(1, most) };
  }
  const started = Date.parse(run.startedAt ?? run.createdAt);
  // Attempts are within their lines, and a planned one must not extend the axis.
  const spans = lines.filter(({ kind }) => kind !== "attempt");
  const start = spans.reduce((first, line) => Math.min(first, Date.parse(line.startedAt)), started);
  const end = spans.reduce(
    (latest, line) => Math.max(latest, endOf(line, now)),
    run.finishedAt ? Date.parse(run.finishedAt) : Math.max(now, start),
  );
  return { measure, start, span: Math.max(1, end - start) };
}

export function scaleOfRange({ from, to }: TimeRange): Scale {
  return { measure: "time", start: from, span: Math.max(1, to - from) };
}

function withMargin(from: number, to: number): TimeRange & { margin: number } {
  const margin = Math.max(5, (to - from) * 0.1);
  return { from: from - margin, to: to + margin, margin };
}

/**
 * The range that shows a line zoomed, with a margin.
 * @returns null if that is the whole axis
 */
export function rangeAround(line: Line, { start, span }: Scale, now: number): TimeRange | null {
  const range = withMargin(Date.parse(line.startedAt), endOf(line, now));
  const from = Math.max(start, range.from);
  const to = Math.min(start + span, range.to);
  return from <= start && to >= start + span ? null : { from, to };
}

/** A run that waited this many times longer than it worked opens zoomed to its work. */
const WAITED_LONG = 4;

/** The initial zoom of an ended run that waited much longer than it ran; null for no zoom. */
export function initialRange(
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt">,
): TimeRange | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  const [started, ended] = [Date.parse(run.startedAt), Date.parse(run.finishedAt)];
  const waited = started - Date.parse(run.createdAt);
  if (waited < MIN_SHOWN_WAIT_MS || waited <= WAITED_LONG * (ended - started)) return null;
  const { from, margin } = withMargin(started, ended);
  return { from, to: Math.max(ended, started + margin) };
}

/** In shares of the axis' width. */
type Span = { from: number; length: number };

type View = { scale: Scale; range: TimeRange | null; now: number };

/** The content of a bar: the extent of a folded line, a wait, the kind of completed work, or another status. */
export type Fill = "held" | "wait" | "call" | "step" | Exclude<LineStatus, "Completed" | "Skipped">;

type Rect = Span & { fill: Fill };

export type Bar = {
  label: string;
  rects: Rect[];
  through?: Span;
  beyond?: "before" | "after";
};

export function barOf(row: Row, view: View): Bar {
  const { scale, range, now } = view;
  const { measure, span } = scale;
  if (row.status === "Skipped") return { label: "", rects: [] };
  const amount = amountOf(row, measure, now);
  const fill = fillOf(row);
  if (measure !== "time") {
    const label = isWork(row) || row.kind === "group" ? formatAmount(amount, measure) : "";
    return { label, rects: [{ from: 0, length: amount / span, fill }] };
  }
  const waitsMs = Date.parse(row.startedAt) - now;
  const label = waitsMs > 0 ? `in ${formatDuration(waitsMs)}` : formatDuration(amount);
  const held = row.folded || row.kind === "group" ? heldBy(row, view) : [];
  if (row.kind === "group" && held.length > 0) return { label, rects: held };
  const outside = beyond(row, range, now);
  if (outside) return { label, rects: held, beyond: outside };
  const own = spanOf(row, view);
  const attempts = isWork(row) ? row.attempts : [];
  if (attempts.length === 0) return { label, rects: [...held, { ...own, fill }] };
  const attemptRects = attempts
    .filter((each) => beyond(each, range, now) === undefined)
    .map((each) => {
      const isFailure = each.error !== null && !hasFailed(row);
      const own = each.status === "Waiting" ? each.status : fill;
      return { ...spanOf(each, view), fill: isFailure ? ("Failed" as const) : own };
    });
  return { label, rects: [...held, ...attemptRects], through: own };
}

function heldBy({ holds = [] }: Row, view: View): Rect[] {
  const rects = holds
    .filter((line) => line.status !== "Skipped" && beyond(line, view.range, view.now) === undefined)
    .map((line) => ({ ...spanOf(line, view), fill: fillOf(line), failed: hasFailed(line) }));
  if (rects.length === 0) return [];
  const from = Math.min(...rects.map((each) => each.from));
  const to = Math.max(...rects.map((each) => each.from + each.length));
  return [{ from, length: to - from, fill: "held" }, ...rects.filter(({ failed }) => failed)];
}

function hasFailed({ status }: Line): boolean {
  return status !== "Running" && status !== "Waiting" && status !== "Completed";
}

function fillOf(line: Line): Fill {
  if (line.kind === "wait") return "wait";
  if (line.status !== "Completed" && line.status !== "Skipped") return line.status;
  const { kind } = line.kind === "attempt" ? line.of : line;
  return kind === "call" ? "call" : "step";
}

type Times = Pick<Line, "startedAt" | "finishedAt">;

function beyond({ startedAt, finishedAt }: Times, range: TimeRange | null, now: number): Bar["beyond"] {
  if (range === null) return undefined;
  if (Date.parse(startedAt) > range.to) return "after";
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  return end < range.from ? "before" : undefined;
}

function spanOf({ startedAt, finishedAt }: Times, { scale: { start, span }, now }: View): Span {
  const from = Math.min(span, Math.max(0, Date.parse(startedAt) - start));
  const to = finishedAt === null ? Math.max(from, now - start) : Date.parse(finishedAt) - start;
  return { from: from / span, length: Math.max(0, Math.min(span, to) - from) / span };
}
