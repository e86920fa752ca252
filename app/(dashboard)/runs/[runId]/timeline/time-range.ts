import type { RunDetail } from "@/server/runs/read/inspect";
import { type Line, lineFacts, MIN_SHOWN_WAIT_MS } from "../lines";
import { endOf } from "./measures";
import type { Scale, TimeRange } from "./scale";

/** On both sides of a line that is zoomed to: a part of its time, and at least so many ms. */
const AIR = 0.1;
const LEAST_AIR_MS = 5;

/**
 * The stretch that shows a line large, with a little air around it.
 * @returns null where that is everything the axis has
 */
export function rangeAround(line: Line, full: Scale, now: number): TimeRange | null {
  const from = Date.parse(lineFacts(line).startedAt);
  const to = endOf(line, now);
  const air = Math.max(LEAST_AIR_MS, (to - from) * AIR);
  return within({ from: from - air, to: to + air }, full);
}

/** A run that waited so many times as long to begin as it ran opens on what ran. */
const WAITED_LONG = 4;

/** The stretch that a run's page opens with: an ended run whose wait to begin leaves no room for what ran shows that. */
export function initialRange(
  run: Pick<RunDetail, "createdAt" | "startedAt" | "finishedAt">,
): TimeRange | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  const from = Date.parse(run.startedAt);
  const to = Date.parse(run.finishedAt);
  const waited = from - Date.parse(run.createdAt);
  if (waited < MIN_SHOWN_WAIT_MS || waited <= WAITED_LONG * (to - from)) return null;
  const air = Math.max(LEAST_AIR_MS, (to - from) * AIR);
  return { from: from - air, to: Math.max(to, from + air) };
}

/** The part of a stretch that the axis has; null where that is all of the axis. */
function within(range: TimeRange, { start, span }: Scale): TimeRange | null {
  const from = Math.max(start, range.from);
  const to = Math.min(start + span, range.to);
  return from <= start && to >= start + span ? null : { from, to };
}

/** The axis of time that shows a stretch alone. */
export function scaleOfRange({ from, to }: TimeRange): Scale {
  return { measure: "time", start: from, span: Math.max(1, to - from) };
}
