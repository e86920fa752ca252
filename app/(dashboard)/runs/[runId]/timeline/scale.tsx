import { formatDuration } from "@/app/_ui/figures/format";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { StepLine } from "@/server/runs/read/inspect/lines";
import { attemptsOf, isWork, type Line, type LineStatus, lineFacts, type WorkLine } from "../lines";
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
  const begun = new Date(run.startedAt ?? run.createdAt).getTime();
  // Attempts are within their lines, and a planned one must not extend the axis.
  const spans = lines.filter(({ kind }) => kind !== "attempt");
  const start = spans.reduce((first, line) => Math.min(first, Date.parse(lineFacts(line).startedAt)), begun);
  const last = spans.reduce((latest, line) => Math.max(latest, endOf(line, now)), start);
  const end = run.finishedAt ? Math.max(new Date(run.finishedAt).getTime(), last) : Math.max(now, last);
  return { measure, start, span: Math.max(1, end - start) };
}

/** A part of the axis, as shares of its width. */
export type Span = { from: number; length: number };

/** A line's bar and the label of its amount. */
type FailedSpan = Span & { status: Exclude<LineStatus, "Running" | "Completed"> };

export type Bar = Span & {
  label: string;
  /** On which side of the visible range it is, if it is outside. */
  beyond: "before" | "after" | null;
  /** The visible bars of several attempts. */
  attempts: (Span & { failed: boolean })[] | null;
  /** The extent of a group, and its failures. */
  held: (Span & { failed: FailedSpan[] }) | null;
};

/** The bar of a line; empty outside the visible range. */
export function barOf(
  line: Line,
  { scale, range, now }: { scale: Scale; range: TimeRange | null; now: number },
): Bar {
  const { measure, span } = scale;
  const amount = amountOf(line, measure, now);
  if (measure !== "time") {
    const label = isWork(line) || line.kind === "group" ? formatAmount(amount, measure) : "";
    return { from: 0, length: amount / span, label, beyond: null, attempts: null, held: null };
  }
  const waitsMs = Date.parse(lineFacts(line).startedAt) - now;
  const attempts = isWork(line) ? attemptsOf(line) : [];
  return {
    ...spanOf(lineFacts(line), scale, now),
    label: waitsMs > 0 ? `in ${formatDuration(waitsMs)}` : formatDuration(amount),
    beyond: beyond(lineFacts(line), range, now),
    attempts:
      attempts.length === 0
        ? null
        : attempts
            .filter((each) => beyond(each, range, now) === null)
            .map((each) => ({ ...spanOf(each, scale, now), failed: each.error !== null })),
    held: line.folded || line.kind === "group" ? heldBy(line.holds ?? [], { scale, range, now }) : null,
  };
}

function heldBy(
  lines: readonly WorkLine[],
  { scale, range, now }: { scale: Scale; range: TimeRange | null; now: number },
): Bar["held"] {
  const spans = lines
    .map((line) => ({ ...lineFacts(line), ...spanOf(lineFacts(line), scale, now) }))
    .filter((each) => beyond(each, range, now) === null);
  if (spans.length === 0) return null;
  const from = Math.min(...spans.map((each) => each.from));
  const to = Math.max(...spans.map((each) => each.from + each.length));
  return { from, length: to - from, failed: spans.flatMap(markOf) };
}

function markOf({ status, from, length }: Span & { status: LineStatus }): FailedSpan[] {
  return status === "Running" || status === "Completed" ? [] : [{ status, from, length }];
}

type Times = Pick<StepLine, "startedAt" | "finishedAt">;

function beyond({ startedAt, finishedAt }: Times, range: TimeRange | null, now: number): Bar["beyond"] {
  if (range === null) return null;
  if (Date.parse(startedAt) > range.to) return "after";
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  return end < range.from ? "before" : null;
}

function spanOf({ startedAt, finishedAt }: Times, { start, span }: Scale, now: number): Span {
  const from = Math.min(span, Math.max(0, Date.parse(startedAt) - start));
  const to = finishedAt === null ? Math.max(from, now - start) : Date.parse(finishedAt) - start;
  return { from: from / span, length: Math.max(0, Math.min(span, to) - from) / span };
}
