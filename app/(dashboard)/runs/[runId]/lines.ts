import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";
import { type TimedAttempt, timedAttempts } from "./timeline/timed-attempts";

/** Where a line is in the timeline. */
type Position = {
  /** The line's run: the page's own, or a child run. */
  runId: string;
  /** The line's id in the URL: `3`, `think-2`; `3.1` is step 1 of the child run of step 3. */
  slug: string;
  label: string;
  depth: number;
  /** The descendants that the line replaces while collapsed; see line-folds.ts. */
  holds?: readonly WorkLine[] | undefined;
  folded?: boolean | undefined;
};

/**
 * A model call or a step. A tool's step has its id in the definition (`fetch`, `page[3]`), an agent's the name of the
 * function or tool.
 */
export type WorkLine = Position & { failure?: Failure | undefined } & (
    | { kind: "call"; call: CallLine }
    | { kind: "step"; step: StepLine }
  );

/**
 * Why a failed line is not shown as failed: its definition continues on errors, or its run was cancelled while it was
 * in progress. Undefined: it is.
 */
type Failure = "Tolerated" | "Cancelled";
export type LineStatus = StepLine["status"] | Failure;

/** One attempt of a step or model call that has several. */
export type AttemptLine = Position & { kind: "attempt"; of: WorkLine; attempt: TimedAttempt };

/** A time in which the run had no slot: before it started, or after it yielded. `to` is null while it waits. */
export type WaitLine = Position & { kind: "wait"; reason: "queue" | "turn"; from: string; to: string | null };

/** A `forEach` step, which groups its items. */
export type GroupLine = Position & { kind: "group"; items: readonly (WorkLine & { kind: "step" })[] };

export type Line = WorkLine | AttemptLine | WaitLine | GroupLine;

/** The part of a run that its lines need. */
type Inspected = {
  run: Pick<RunDetail, "id" | "kind"> & Partial<Pick<RunDetail, "status" | "finishedAt">>;
  steps: StepLine[];
  calls: CallLine[];
};

/** The expanded child runs, by id. */
export type UnfoldedRuns = ReadonlyMap<string, Inspected>;

const NOTHING_UNFOLDED: UnfoldedRuns = new Map();

/**
 * Steps and model calls in reading order: by iteration, the model call first, then its steps by number. Inside a step
 * follow its model calls and the lines of its child run, if expanded.
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
    lines.push({
      kind: "call",
      runId: run.id,
      slug: within.prefix + call.key,
      call,
      label,
      depth,
      failure: failureOf(call, run),
    });
  const stepDepth = within.depth + (run.kind === "agent" ? 1 : 0);
  const iterations = [...new Set([...own, ...steps].map((each) => each.iteration))].sort((a, b) => a - b);
  for (const iteration of iterations) {
    for (const call of own.filter((each) => each.iteration === iteration)) {
      addCall(call, callLabel(call, iteration === iterations.at(-1)), within.depth);
    }
    const ofIteration = steps
      .filter((each) => each.iteration === iteration)
      .sort((a, b) => a.number - b.number);
    for (const step of ofIteration) {
      const slug = `${within.prefix}${step.number}`;
      const label = run.kind === "agent" ? step.name : step.key;
      const failure = failureOf(step, run);
      lines.push({ kind: "step", runId: run.id, slug, step, label, depth: stepDepth, failure });
      for (const call of inside.get(step.key) ?? []) addCall(call, "Model call", stepDepth + 1);
      const child = step.childRunId ? unfolded.get(step.childRunId) : undefined;
      if (child) lines.push(...linesOf(child, unfolded, { depth: stepDepth + 1, prefix: `${slug}.` }));
    }
  }
  return lines;
}

/** What had begun when a run ended has the run's end as its own. */
function failureOf(work: StepLine | CallLine, run: Inspected["run"]): Failure | undefined {
  if (work.status !== "Failed") return undefined;
  if (run.status === "Cancelled" && work.finishedAt === run.finishedAt) return "Cancelled";
  return "tolerated" in work && work.tolerated ? "Tolerated" : undefined;
}

/** An answer that another call follows did not match the agent's output schema. */
function callLabel(call: CallLine, isLast: boolean): string {
  if (call.status !== "Completed" || call.asked > 0) return `Model call ${call.iteration}`;
  return isLast ? "Answer" : "Invalid answer";
}

/** Adds the attempts of the lines with these slugs. */
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

/** The attempts of a line that has several, or retries after a failure. */
export function attemptsOf(line: WorkLine): TimedAttempt[] {
  return timedAttempts(line.kind === "step" ? line.step : line.call);
}

/** A shorter wait before a run's start is not shown. */
export const MIN_SHOWN_WAIT_MS = 1_000;

/** The times in which a run had no slot, oldest first. */
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

/** Inserts a run's waits, each before the first line that started after it. */
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

/** An id that is unique among all lines of a page. */
export function lineId(line: Line): string {
  if (line.kind === "wait" || line.kind === "group") return `${line.runId}-${line.kind}-${line.slug}`;
  if (line.kind === "attempt") return `${lineId(line.of)}-${line.attempt.number}`;
  return line.kind === "step" ? line.step.id : line.call.id;
}

/** A line's status and times. A line that failed without harm to its run has a status of its own. */
export function lineFacts(
  line: Line,
): Pick<StepLine, "startedAt" | "finishedAt" | "durationMs"> & { status: LineStatus } {
  switch (line.kind) {
    case "step":
      return line.failure ? { ...line.step, status: line.failure } : line.step;
    case "call":
      return line.failure ? { ...line.call, status: line.failure } : line.call;
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

/** The status of a line whose step or call was read anew. */
export function statusOf(line: WorkLine, { status }: Pick<StepLine, "status">): LineStatus {
  return status === "Failed" ? (line.failure ?? status) : status;
}

/** Whether a line failed in a way that mattered to its run. */
export function isAtFault(line: Line): boolean {
  const { status } = lineFacts(line);
  return status !== "Completed" && status !== "Tolerated";
}

/** Running while one is; failed if one has, other than tolerated ones. From the first start to the last end. */
function factsOfAll(all: ReturnType<typeof lineFacts>[]): ReturnType<typeof lineFacts> {
  const statuses = ["Running", "Failed", "Cancelled"] as const;
  const status = statuses.find((each) => all.some((line) => line.status === each)) ?? "Completed";
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

/** Whether a line is a step or model call, and not an attempt, a wait or a group. */
export function isWork(line: Line): line is WorkLine {
  return line.kind === "step" || line.kind === "call";
}

/** About as many rows as fit on a screen. A step with more items starts collapsed, so that what follows is visible. */
const MAX_UNFOLDED = 20;

export function opensFolded(line: Line): boolean {
  return line.kind === "group" && line.items.length > MAX_UNFOLDED;
}
