import { formatCount, formatCredits, formatDuration } from "@/app/_ui/figures/format";
import type { CallLine } from "@/server/runs/read/inspect/lines";
import { isWork, type Line, type WaitLine, type WorkLine } from "./lines";

export type Measure = "time" | "credits" | "tokens";

/** The end of a line, in ms; an open one ends now. */
export function endOf(
  { startedAt, finishedAt }: Pick<Line, "startedAt" | "finishedAt">,
  now: number,
): number {
  return finishedAt ? Date.parse(finishedAt) : Math.max(now, Date.parse(startedAt));
}

/** The duration of a line until its end or `now`, in ms. */
export function lengthOf(line: Line, now: number): number {
  return line.durationMs ?? Math.max(0, endOf(line, now) - Date.parse(line.startedAt));
}

/**
 * A line's amount: ms, tokens, or ten-thousandths of a credit, which add up exactly. A step includes its child run.
 * Waits and attempts only have a time.
 */
export function amountOf(line: Line, measure: Measure, now: number): number {
  if (measure === "time") return lengthOf(line, now);
  if (line.kind === "group") {
    // The usage of child runs is counted at the items.
    const own = (line.holds ?? []).filter(({ runId }) => runId === line.runId);
    return own.reduce((sum, each) => sum + amountOf(each, measure, now), 0);
  }
  if (!isWork(line)) return 0;
  if (line.kind === "call") {
    const { inputTokens, outputTokens, credits } = line.call;
    return measure === "tokens" ? inputTokens + outputTokens : creditUnits(credits);
  }
  return measure === "tokens"
    ? 0
    : creditUnits(line.step.credits) + creditUnits(line.step.childCredits ?? "0");
}

/** In ten-thousandths; the decimal has at most four places. */
function creditUnits(credits: string): number {
  return Math.round(Number(credits) * 10_000);
}

/** Ten-thousandths of a credit as a decimal with four places. */
export function fromCreditUnits(units: number): string {
  return (units / 10_000).toFixed(4);
}

/** The parts of a run's time since its start, in ms. They add up to the total; parallel work counts once. */
export function timeShares(
  lines: WorkLine[],
  waits: WaitLine[],
  { start, end, now }: { start: number; end: number; now: number },
) {
  const spanOf = (line: Line): Span => [Date.parse(line.startedAt), endOf(line, now)];
  const turns = waits.filter(({ reason }) => reason === "turn");
  const model = covered(lines.filter(({ kind }) => kind === "call").map(spanOf));
  const work = covered(lines.map(spanOf));
  const all = covered([...lines, ...turns].map(spanOf));
  return { model, steps: work - model, waited: all - work, idle: Math.max(0, end - start - all) };
}

type Span = [from: number, to: number];

function covered(spans: Span[]): number {
  let sum = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return sum;
}

export function sumCached(calls: readonly Pick<CallLine, "cachedInputTokens">[]): number {
  return calls.reduce((sum, { cachedInputTokens }) => sum + cachedInputTokens, 0);
}

/** A run's credits by use, in ten-thousandths. */
export function creditShares(lines: WorkLine[]) {
  const shares = { model: 0, actions: 0, started: 0 };
  for (const line of lines) {
    if (line.kind === "call") shares.model += creditUnits(line.call.credits);
    else {
      shares.actions += creditUnits(line.step.credits);
      shares.started += creditUnits(line.step.childCredits ?? "0");
    }
  }
  return shares;
}

/**
 * The line with the largest amount; null if there is only one, or nothing was used. A step includes the model calls
 * inside it.
 */
export function largestLine(lines: WorkLine[], measure: Measure, now: number): WorkLine | null {
  const isInside = (line: WorkLine) => line.kind === "call" && line.call.key.includes("/");
  const candidates = measure === "time" ? lines.filter((line) => !isInside(line)) : lines;
  if (candidates.length < 2) return null;
  const largest = candidates.reduce((most, line) =>
    amountOf(line, measure, now) > amountOf(most, measure, now) ? line : most,
  );
  return amountOf(largest, measure, now) > 0 ? largest : null;
}

export function formatAmount(amount: number, measure: Measure): string {
  if (measure === "time") return formatDuration(amount);
  return measure === "tokens" ? formatCount(amount) : formatCredits(fromCreditUnits(amount));
}
