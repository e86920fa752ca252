import type { CallLine, RunDetail, StepLine } from "@/server/runs/read/inspect";
import { type TimedAttempt, timedAttempts } from "./timeline/timed-attempts";

/** Where a line belongs. */
type Position = {
  /** The run it belongs to: the page's own, or one that a step of it started. */
  runId: string;
  /** Names it in the address: `3`, `think-2`; `3.1` is step 1 of the run that step 3 started. */
  slug: string;
  label: string;
  depth: number;
  /** The work below it that it can stand for, and whether it does; see line-folds.ts. */
  holds?: readonly WorkLine[] | undefined;
  folded?: boolean | undefined;
};

/**
 * A call of the model, or a step. A step of a tool is called by its id in the definition (`fetch`, `page[3]`), one of an
 * agent by what the model called.
 */
export type WorkLine = Position & ({ kind: "call"; call: CallLine } | { kind: "step"; step: StepLine });

/** One try of a step or a model call that took several. */
export type AttemptLine = Position & { kind: "attempt"; of: WorkLine; attempt: TimedAttempt };

/** A time in which the run had no place: before it began, or between two turns. `to` is null while it waits. */
export type WaitLine = Position & { kind: "wait"; reason: "queue" | "turn"; from: string; to: string | null };

/** A step with `forEach`: stands for its items. */
export type GroupLine = Position & { kind: "group"; items: readonly (WorkLine & { kind: "step" })[] };

/** One line of the timeline. */
export type Line = WorkLine | AttemptLine | WaitLine | GroupLine;

/** What of a run its lines are made from. */
type Inspected = { run: Pick<RunDetail, "id" | "kind">; steps: StepLine[]; calls: CallLine[] };

/** The runs that steps of a page's run started, as far as they are unfolded, by their ids. */
export type UnfoldedRuns = ReadonlyMap<string, Inspected>;

const NOTHING_UNFOLDED: UnfoldedRuns = new Map();

/**
 * Puts steps and model calls in reading order: by iteration, in each the thinking first, then its steps by number, what
 * happened inside of a step below it: the model's calls, and the lines of the run it started where that is unfolded.
 */
export function linesOf(
  { run, steps, calls }: Inspected,
  unfolded: UnfoldedRuns = NOTHING_UNFOLDED,
  within: { depth: number; prefix: string } = { depth: 0, prefix: "" },
): WorkLine[] {
  const inside = new Map<string, CallLine[]>();
  const own: CallLine[] = [];
  const stepKeys = new Set(steps.map((step) => step.key));
  for (const call of calls) {
    const parent = call.key.includes("/") ? call.key.slice(0, call.key.lastIndexOf("/")) : "";
    if (stepKeys.has(parent)) inside.set(parent, [...(inside.get(parent) ?? []), call]);
    else own.push(call);
  }
  const lines: WorkLine[] = [];
  const addCall = (call: CallLine, label: string, depth: number) =>
    lines.push({ kind: "call", runId: run.id, slug: within.prefix + call.key, call, label, depth });
  const stepDepth = within.depth + (run.kind === "agent" ? 1 : 0);
  const iterations = [...new Set([...own, ...steps].map((each) => each.iteration))].sort((a, b) => a - b);
  for (const iteration of iterations) {
    for (const call of own.filter((each) => each.iteration === iteration)) {
      addCall(call, callLabel(call), within.depth);
    }
    const ofIteration = steps
      .filter((each) => each.iteration === iteration)
      .sort((a, b) => a.number - b.number);
    for (const step of ofIteration) {
      const slug = `${within.prefix}${step.number}`;
      const label = run.kind === "agent" ? step.name : step.key;
      lines.push({ kind: "step", runId: run.id, slug, step, label, depth: stepDepth });
      for (const call of inside.get(step.key) ?? []) addCall(call, "model", stepDepth + 1);
      const child = step.childRunId ? unfolded.get(step.childRunId) : undefined;
      if (child) lines.push(...linesOf(child, unfolded, { depth: stepDepth + 1, prefix: `${slug}.` }));
    }
  }
  return lines;
}

function callLabel(call: CallLine): string {
  return call.status === "Completed" && call.asked === 0 ? "answer" : "think";
}

/** Puts the attempts of the lines with these slugs below them. */
export function withAttempts(lines: WorkLine[], unfolded: ReadonlySet<string>): (WorkLine | AttemptLine)[] {
  if (unfolded.size === 0) return lines;
  return lines.flatMap((of) => {
    if (!unfolded.has(of.slug)) return [of];
    const { runId, slug, depth } = of;
    return [
      of,
      ...attemptsOf(of).map((attempt): AttemptLine => {
        const label = `attempt ${attempt.number}`;
        return { kind: "attempt", runId, slug, label, depth: depth + 1, of, attempt };
      }),
    ];
  });
}

/** The attempts of a line that took several, or goes on after one that failed. */
export function attemptsOf(line: WorkLine): TimedAttempt[] {
  return timedAttempts(line.kind === "step" ? line.step : line.call);
}

/** A wait for a place shorter than this before a run begins is no news. */
export const MIN_SHOWN_WAIT_MS = 1_000;

/** The times in which a run had no place, oldest first. */
export function waitsOf(run: Pick<RunDetail, "id" | "createdAt" | "startedAt" | "turns">): WaitLine[] {
  const common = { kind: "wait", runId: run.id, depth: 0 } as const;
  const waits: WaitLine[] = run.turns.map((turn, index) => ({
    ...common,
    ...turn,
    reason: "turn",
    slug: `turn-${index + 1}`,
    label: "waited for a slot",
  }));
  const { createdAt: from, startedAt: to } = run;
  if (to !== null && Date.parse(to) - Date.parse(from) >= MIN_SHOWN_WAIT_MS) {
    waits.unshift({ ...common, reason: "queue", slug: "queue", label: "queued", from, to });
  }
  return waits;
}

/** Puts the waits of a run between its lines: each before the first line that began after it. */
export function withWaits(lines: Exclude<Line, WaitLine>[], waits: WaitLine[]): Line[] {
  if (waits.length === 0) return lines;
  const left = [...waits];
  const all: Line[] = [];
  for (const line of lines) {
    while (
      left[0] &&
      line.kind !== "attempt" &&
      line.runId === left[0].runId &&
      lineFacts(line).startedAt >= left[0].from
    ) {
      all.push(...left.splice(0, 1));
    }
    all.push(line);
  }
  return [...all, ...left];
}

/** Names a line among all of a page. */
export function lineId(line: Line): string {
  if (line.kind === "wait" || line.kind === "group") return `${line.runId}-${line.kind}-${line.slug}`;
  if (line.kind === "attempt") return `${lineId(line.of)}-${line.attempt.number}`;
  return line.kind === "step" ? line.step.id : line.call.id;
}

/** What a line says of its state and times. */
export function lineFacts(line: Line): Pick<StepLine, "status" | "startedAt" | "finishedAt" | "durationMs"> {
  switch (line.kind) {
    case "step":
      return line.step;
    case "call":
      return line.call;
    case "attempt":
      return line.attempt;
    case "group":
      return factsOfAll(line.items.map(lineFacts));
    case "wait": {
      const { from: startedAt, to: finishedAt } = line;
      const durationMs = finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
      return { status: finishedAt === null ? "Running" : "Completed", startedAt, finishedAt, durationMs };
    }
  }
}

/** Goes on while one does; failed when one has. From the first start to the last end. */
function factsOfAll(all: ReturnType<typeof lineFacts>[]): ReturnType<typeof lineFacts> {
  const has = (status: StepLine["status"]) => all.some((each) => each.status === status);
  const status = has("Running") ? "Running" : has("Failed") ? "Failed" : "Completed";
  const first = Math.min(...all.map(({ startedAt }) => Date.parse(startedAt)));
  const last = Math.max(
    ...all.map(({ finishedAt }) => (finishedAt === null ? Number.NaN : Date.parse(finishedAt))),
  );
  return {
    status,
    startedAt: new Date(first).toISOString(),
    finishedAt: Number.isNaN(last) ? null : new Date(last).toISOString(),
    durationMs: Number.isNaN(last) ? null : last - first,
  };
}

/** Whether a line is a piece of work: not one of its tries, not a wait, not what stands for several. */
export function isWork(line: Line): line is WorkLine {
  return line.kind === "step" || line.kind === "call";
}

/** More rows than these fill a screen: a step with more items opens folded, so that what comes after it is in sight. */
const MOST_UNFOLDED = 20;

/** Whether a line stands for those below it when the page opens. */
export function opensFolded(line: Line): boolean {
  return line.kind === "group" && line.items.length > MOST_UNFOLDED;
}

/** The line that the page's address names, by its query. */
export type LineAddress = { [key in (typeof ADDRESS_KEYS)[number]]?: string | undefined };
const ADDRESS_KEYS = ["step", "call", "wait", "group", "attempt"] as const;

/** Reads the line's part of a page's address. */
export function readAddress(query: URLSearchParams): LineAddress {
  return Object.fromEntries(ADDRESS_KEYS.map((key) => [key, query.get(key) ?? undefined]));
}

/** Writes a line's address, or none, into a page's. */
export function writeAddress(query: URLSearchParams, line: Line | null): void {
  for (const key of ADDRESS_KEYS) query.delete(key);
  if (line === null) return;
  for (const [key, value] of Object.entries(addressOf(line))) query.set(key, value);
}

function addressOf(line: Line): Record<string, string> {
  return line.kind === "attempt"
    ? { ...addressOf(line.of), attempt: String(line.attempt.number) }
    : { [line.kind]: line.slug };
}

/** Whether a page's address names this line. */
export function isNamed(line: Line, address: LineAddress): boolean {
  const own = addressOf(line);
  return ADDRESS_KEYS.every((key) => own[key] === address[key]);
}

/** What a page's address names, in words: `step 3`, `attempt 2 of step 1`; null where it names nothing. */
export function describeAddress({ step, call, wait, group, attempt }: LineAddress): string | null {
  const line =
    step !== undefined
      ? `step ${step}`
      : call !== undefined
        ? `model call ${call}`
        : wait !== undefined
          ? `wait ${wait}`
          : group !== undefined
            ? `items of ${group}`
            : null;
  return line !== null && attempt !== undefined ? `attempt ${attempt} of ${line}` : line;
}

/** The run that must be unfolded for the line which the address names to be there. */
export function runToUnfold({ step, call }: LineAddress, steps: StepLine[]): string | null {
  const number = /^(\d+)\./.exec(step ?? call ?? "")?.[1];
  return steps.find((each) => String(each.number) === number)?.childRunId ?? null;
}

/** The slug of the line whose attempts must be unfolded for the one which the address names to be there. */
export function attemptsToUnfold({ step, call, attempt }: LineAddress): string | null {
  return attempt === undefined ? null : (step ?? call ?? null);
}

/**
 * The line that the address names; else the failure of a failed run; else the newest line of a live run; else
 * the first step.
 */
export function chooseLine(
  lines: Line[],
  address: LineAddress,
  run: Pick<RunDetail, "id" | "status">,
): Line | null {
  const named = lines.find((line) => isNamed(line, address));
  if (named) return named;
  const own = lines.filter((line) => line.runId === run.id && line.kind !== "attempt");
  if (run.status === "Failed") {
    const failed = own.findLast((line) => isWork(line) && lineFacts(line).status !== "Completed");
    if (failed) return failed;
  }
  if (run.status === "Running") return own.at(-1) ?? null;
  return own.find((line) => line.kind === "step" || opensFolded(line)) ?? own.find(isWork) ?? own[0] ?? null;
}
