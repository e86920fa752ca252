import { formatDuration } from "@/app/_ui/figures/format";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { isWork, type Line, type LineStatus, MIN_SHOWN_WAIT_MS, type Row } from "../lines";
import { amountOf, endOf, formatAmount, type Measure } from "./measures";

/**
 * The columns of each row and of the axis: name, bar, amount. A narrow timeline gives most of its width to the names.
 */
export const COLUMNS =
  "grid grid-cols-[minmax(0,9fr)_minmax(0,5fr)_4.5rem] items-center gap-2 px-4 sm:pl-6 @md/timeline:grid-cols-[minmax(0,12rem)_minmax(0,1fr)_5.5rem] @2xl/timeline:grid-cols-[minmax(0,16rem)_minmax(0,1fr)_5.5rem]";

/** Where bars begin and how long they are: on a time axis in ms, otherwise all from the left. */
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
  const begun = Date.parse(run.startedAt ?? run.createdAt);
  // Attempts are within their lines, and a planned one must not extend the axis.
  const spans = lines.filter(({ kind }) => kind !== "attempt");
  const start = spans.reduce((first, line) => Math.min(first, Date.parse(line.startedAt)), begun);
  const end = spans.reduce(
    (latest, line) => Math.max(latest, endOf(line, now)),
    run.finishedAt ? Date.parse(run.finishedAt) : Math.max(now, start),
  );
  return { measure, start, span: Math.max(1, end - start) };
}

export function scaleOfRange({ from, to }: TimeRange): Scale {
  return { measure: "time", start: from, span: Math.max(1, to - from) };
}

/** A range with a margin around it: a share of its length, and at least some ms. */
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

/** A run whose wait was this many times longer than its work opens zoomed to its work. */
const WAITED_LONG = 4;

/** The initial zoom of an ended run that waited much longer than it ran; null for no zoom. */
export function initialRange(
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt">,
): TimeRange | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  const [begun, ended] = [Date.parse(run.startedAt), Date.parse(run.finishedAt)];
  const waited = begun - Date.parse(run.createdAt);
  if (waited < MIN_SHOWN_WAIT_MS || waited <= WAITED_LONG * (ended - begun)) return null;
  const { from, margin } = withMargin(begun, ended);
  return { from, to: Math.max(ended, begun + margin) };
}

/** A part of the axis, as shares of its width. */
export type Span = { from: number; length: number };

/** The visible range of the bars, and the time at which open lines end. */
type View = { scale: Scale; range: TimeRange | null; now: number };

/** The bar of a row, and the label of its amount; empty outside the visible range. */
export function barOf(row: Row, view: View) {
  const { scale, range, now } = view;
  const { measure, span } = scale;
  const amount = amountOf(row, measure, now);
  if (measure !== "time") {
    const label = isWork(row) || row.kind === "group" ? formatAmount(amount, measure) : "";
    return { from: 0, length: amount / span, label, beyond: null, attempts: null, held: null };
  }
  const waitsMs = Date.parse(row.startedAt) - now;
  const attempts = isWork(row) ? row.attempts : [];
  return {
    ...spanOf(row, view),
    label: waitsMs > 0 ? `in ${formatDuration(waitsMs)}` : formatDuration(amount),
    /** On which side of the visible range it is, if it is outside. */
    beyond: beyond(row, range, now),
    /** The visible bars of several attempts. */
    attempts:
      attempts.length === 0
        ? null
        : attempts
            .filter((each) => beyond(each, range, now) === null)
            .map((each) => ({ ...spanOf(each, view), failed: each.error !== null })),
    held: row.folded || row.kind === "group" ? heldBy(row, view) : null,
  };
}

export type Bar = ReturnType<typeof barOf>;

/** The extent of the lines that a row holds, and their failures; null if none is visible. */
function heldBy({ holds = [] }: Row, view: View) {
  const spans = holds
    .filter((line) => beyond(line, view.range, view.now) === null)
    .map((line) => ({ ...spanOf(line, view), status: line.status }));
  if (spans.length === 0) return null;
  const from = Math.min(...spans.map((each) => each.from));
  const to = Math.max(...spans.map((each) => each.from + each.length));
  return { from, length: to - from, failed: spans.filter(hasFailed) };
}

/** The statuses of what did not succeed. */
export type FailedStatus = Exclude<LineStatus, "Running" | "Completed">;

export function hasFailed<Each extends { status: LineStatus }>(
  each: Each,
): each is Each & { status: FailedStatus } {
  return each.status !== "Running" && each.status !== "Completed";
}

type Times = Pick<Line, "startedAt" | "finishedAt">;

function beyond(
  { startedAt, finishedAt }: Times,
  range: TimeRange | null,
  now: number,
): "before" | "after" | null {
  if (range === null) return null;
  if (Date.parse(startedAt) > range.to) return "after";
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  return end < range.from ? "before" : null;
}

function spanOf({ startedAt, finishedAt }: Times, { scale: { start, span }, now }: View): Span {
  const from = Math.min(span, Math.max(0, Date.parse(startedAt) - start));
  const to = finishedAt === null ? Math.max(from, now - start) : Date.parse(finishedAt) - start;
  return { from: from / span, length: Math.max(0, Math.min(span, to) - from) / span };
}
