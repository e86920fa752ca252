import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import { type Line, lineFacts, MIN_SHOWN_WAIT_MS } from "../lines";
import { endOf } from "./measures";
import type { Scale, TimeRange } from "./scale";

/** The margin around a zoomed line: a share of its duration, and at least this many ms. */
const MARGIN = 0.1;
const MIN_MARGIN_MS = 5;

/**
 * The range that shows a line zoomed, with a margin.
 * @returns null if that is the whole axis
 */
export function rangeAround(line: Line, full: Scale, now: number): TimeRange | null {
  const from = Date.parse(lineFacts(line).startedAt);
  const to = endOf(line, now);
  const margin = Math.max(MIN_MARGIN_MS, (to - from) * MARGIN);
  return within({ from: from - margin, to: to + margin }, full);
}

/** A run whose wait was this many times longer than its work opens zoomed to its work. */
const WAITED_LONG = 4;

/** The initial zoom of an ended run that waited much longer than it ran; null for no zoom. */
export function initialRange(
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt">,
): TimeRange | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  const from = Date.parse(run.startedAt);
  const to = Date.parse(run.finishedAt);
  const waited = from - Date.parse(run.createdAt);
  if (waited < MIN_SHOWN_WAIT_MS || waited <= WAITED_LONG * (to - from)) return null;
  const margin = Math.max(MIN_MARGIN_MS, (to - from) * MARGIN);
  return { from: from - margin, to: Math.max(to, from + margin) };
}

/** The part of a range that the axis has; null if that is the whole axis. */
function within(range: TimeRange, { start, span }: Scale): TimeRange | null {
  const from = Math.max(start, range.from);
  const to = Math.min(start + span, range.to);
  return from <= start && to >= start + span ? null : { from, to };
}

export function scaleOfRange({ from, to }: TimeRange): Scale {
  return { measure: "time", start: from, span: Math.max(1, to - from) };
}
