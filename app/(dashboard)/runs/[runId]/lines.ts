import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { CallLine, StepLine } from "@/server/runs/read/inspect/lines";
import { isWaiting, type TimedAttempt, timedAttempts } from "./timed-attempts";

type Times = Pick<StepLine, "startedAt" | "finishedAt" | "durationMs">;

type Common = Times & {
  /** Unique on a page. */
  id: string;
  runId: string;
  /** In the URL: `3`, `think-2`; `3.1` is step 1 of the child run of step 3. */
  slug: string;
  label: string;
  status: LineStatus;
  children: readonly Line[];
  /** Steps and model calls at any depth. Only lines that have them can be folded. */
  holds?: readonly WorkLine[];
};

/**
 * `Tolerated`: failed, but the definition continues on errors. `Cancelled`: interrupted by a cancel of its run.
 * `Waiting`: the provider allows no more calls now.
 */
export type LineStatus = StepLine["status"] | "Tolerated" | "Cancelled" | "Waiting";

/**
 * A model call or a step, labeled by its id in a tool's definition (`fetch`, `page[3]`), or by the function's or
 * tool's name in an agent's.
 */
export type WorkLine = Common & {
  /** Only if there are several, or it retries after a failure. */
  attempts: TimedAttempt[];
} & ({ kind: "call"; call: CallLine } | { kind: "step"; step: StepLine });

type AttemptLine = Common & { kind: "attempt"; of: WorkLine; attempt: TimedAttempt };

/** A time in which the run had no slot: before it started, or after it yielded. */
export type WaitLine = Common & { kind: "wait"; reason: "queue" | "turn" };

/** A `forEach` step, which groups its items. */
export type GroupLine = Common & { kind: "group"; items: readonly (WorkLine & { kind: "step" })[] };

export type Line = WorkLine | AttemptLine | WaitLine | GroupLine;

export type Row = Line & { depth: number; folded: boolean };
export type WorkRow = Row & WorkLine;

type Inspected = {
  run: Pick<RunDetail, "id" | "kind">;
  steps: StepLine[];
  calls: CallLine[];
};

/** The expanded parts: child runs by id, and the slugs of lines whose attempts are shown. */
export type Unfolded = { runs: ReadonlyMap<string, Inspected>; attempts: ReadonlySet<string> };

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Steps and model calls in reading order. A step is followed by its model calls and, if expanded, the lines of its
 * child run.
 */
export function linesOf(
  { run, steps, calls }: Inspected,
  unfolded: Unfolded = { runs: new Map(), attempts: NOTHING },
  prefix = "",
): WorkLine[] {
  const callsInStep = new Map(steps.map(({ key }): [string, CallLine[]] => [key, []]));
  const own: CallLine[] = [];
  for (const call of calls) {
    (callsInStep.get(call.key.slice(0, Math.max(0, call.key.lastIndexOf("/")))) ?? own).push(call);
  }

  const common = (work: StepLine | CallLine, slug: string) => {
    const { id, startedAt, finishedAt, durationMs } = work;
    const times = { startedAt, finishedAt, durationMs };
    return { id, runId: run.id, slug, ...times, status: statusOf(work), attempts: timedAttempts(work) };
  };
  const withChildren = (line: WorkLine, children: WorkLine[]): WorkLine => ({
    ...line,
    children: unfolded.attempts.has(line.slug) ? [...attemptsOf(line), ...children] : children,
  });
  const lineOfCall = (call: CallLine, label: string, below: WorkLine[] = []): WorkLine => {
    const facts = { ...common(call, prefix + call.key), label, children: [] };
    const holds = below.flatMap((line) => [line, ...workBelow(line)]);
    return withChildren({ kind: "call", call, ...facts, ...(holds.length > 0 ? { holds } : {}) }, below);
  };
  const lineOfStep = (step: StepLine): WorkLine => {
    const facts = common(step, `${prefix}${step.number}`);
    const label = run.kind === "agent" ? step.name : step.key;
    const child = step.childRunId ? unfolded.runs.get(step.childRunId) : undefined;
    return withChildren({ kind: "step", step, ...facts, label, children: [] }, [
      ...(callsInStep.get(step.key) ?? []).map((call) => lineOfCall(call, "Model call")),
      ...(child ? linesOf(child, unfolded, `${facts.slug}.`) : []),
    ]);
  };

  const ordered = [...own, ...steps].sort((a, b) => a.iteration - b.iteration || numberOf(a) - numberOf(b));
  const lastIteration = ordered.at(-1)?.iteration;
  const parts: { call?: CallLine; below: WorkLine[] }[] = [{ below: [] }];
  for (const work of ordered) {
    if ("number" in work) parts.at(-1)?.below.push(lineOfStep(work));
    else parts.push({ call: work, below: [] });
  }
  return parts.flatMap(({ call, below }) => {
    if (!call) return below;
    const label = callLabel(call, call.iteration === lastIteration);
    return run.kind === "agent" ? [lineOfCall(call, label, below)] : [lineOfCall(call, label), ...below];
  });
}

function numberOf(work: StepLine | CallLine): number {
  return "number" in work ? work.number : 0;
}

/** Work that a cancel of its run interrupted counts as cancelled. */
function statusOf(work: StepLine | CallLine): LineStatus {
  if (isWaiting(work)) return "Waiting";
  if (work.status !== "Failed") return work.status;
  if (work.interrupted) return "Cancelled";
  return "tolerated" in work && work.tolerated ? "Tolerated" : "Failed";
}

/** An answer that another call follows did not match the agent's output schema. */
function callLabel(call: CallLine, isLast: boolean): string {
  if (call.status !== "Completed" || call.asked > 0) return `Model call ${call.iteration}`;
  return isLast ? "Answer" : "Invalid answer";
}

function attemptsOf(of: WorkLine): AttemptLine[] {
  const { runId, slug } = of;
  return of.attempts.map((attempt) => {
    const { number, status, startedAt, finishedAt, durationMs } = attempt;
    const facts = { status, startedAt, finishedAt, durationMs, children: [] };
    return {
      kind: "attempt",
      id: `${of.id}-${number}`,
      runId,
      slug,
      label: `attempt ${number}`,
      of,
      attempt,
      ...facts,
    };
  });
}

function workBelow({ children }: Line): WorkLine[] {
  return children.filter(isWork).flatMap((line) => [line, ...workBelow(line)]);
}

/** A shorter wait before a run's start is not shown. */
export const MIN_SHOWN_WAIT_MS = 1_000;

/** The times in which a run waited for a slot, oldest first. In a `wait` step it needs none. */
export function waitsOf(
  { id, createdAt, startedAt, turns }: Pick<RunDetail, "id" | "createdAt" | "startedAt" | "turns">,
  steps: readonly Pick<StepLine, "name" | "startedAt" | "finishedAt">[],
) {
  const isAsleep = (at: string) =>
    steps.some(
      (step) =>
        step.name === "wait" && step.startedAt <= at && (step.finishedAt === null || at <= step.finishedAt),
    );
  const wait = (slug: string, { from, to }: RunDetail["turns"][number]): WaitLine => ({
    kind: "wait",
    id: `${id}-wait-${slug}`,
    runId: id,
    slug,
    ...(slug === "queue"
      ? { reason: "queue", label: "queued" }
      : { reason: "turn", label: "waited for a slot" }),
    status: to === null ? "Running" : "Completed",
    startedAt: from,
    finishedAt: to,
    durationMs: to === null ? null : Date.parse(to) - Date.parse(from),
    children: [],
  });
  const waits = turns.flatMap((turn, index) =>
    isAsleep(turn.from) ? [] : [wait(`turn-${index + 1}`, turn)],
  );
  const queued = startedAt !== null && Date.parse(startedAt) - Date.parse(createdAt) >= MIN_SHOWN_WAIT_MS;
  return queued ? [wait("queue", { from: createdAt, to: startedAt }), ...waits] : waits;
}

/** Adds a group above the items of each `forEach` step: `page[0]`, `page[1]`, … */
export function withGroups(lines: readonly Line[]): Line[] {
  const parts: { name: string | null; lines: Line[] }[] = [];
  for (const line of lines) {
    const name = itemOf(line);
    const last = parts.at(-1);
    const inner = line.children.length > 0 ? { ...line, children: withGroups(line.children) } : line;
    if (name !== null && last?.name === name) last.lines.push(inner);
    else parts.push({ name, lines: [inner] });
  }
  // A single item gets a group, too: a run in progress may add more, and nothing may move then.
  return parts.flatMap(({ name, lines }) => (name === null ? lines : [groupOf(name, lines)]));
}

function itemOf(line: Line): string | null {
  if (line.kind !== "step" || line.label !== line.step.key) return null;
  return /^(.+)\[\d+\]$/.exec(line.label)?.[1] ?? null;
}

/** Running while one item is; failed if one has, other than tolerated ones. */
function groupOf(label: string, children: Line[]): GroupLine {
  const items = children.filter(isStep);
  const [{ runId = "", slug: first = "" } = {}] = items;
  const slug = `${first.slice(0, first.lastIndexOf(".") + 1)}${label}`;
  const startedAt = Math.min(...items.map((item) => Date.parse(item.startedAt)));
  const isOpen = items.some(({ finishedAt }) => finishedAt === null);
  const finishedAt = Math.max(...items.map((item) => Date.parse(item.finishedAt ?? item.startedAt)));
  const statuses = ["Running", "Failed", "Cancelled"] as const;
  return {
    kind: "group",
    id: `${runId}-group-${slug}`,
    runId,
    slug,
    label,
    status: statuses.find((each) => items.some(({ status }) => status === each)) ?? "Completed",
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: isOpen ? null : new Date(finishedAt).toISOString(),
    durationMs: isOpen ? null : finishedAt - startedAt,
    children,
    items,
    holds: items.flatMap((item) => [item, ...workBelow(item)]),
  };
}

/** The lines with their descendants below them, except those of folded lines. */
export function rowsOf(lines: readonly Line[], folded: ReadonlySet<string> = NOTHING, depth = 0): Row[] {
  return lines.flatMap((line): Row[] => {
    const isFolded = line.holds !== undefined && folded.has(line.id);
    const row = { ...line, depth, folded: isFolded };
    return isFolded ? [row] : [row, ...rowsOf(line.children, folded, depth + 1)];
  });
}

/** A run's steps and model calls, with nothing expanded. */
export function workRowsOf(inspected: Inspected): WorkRow[] {
  return rowsOf(linesOf(inspected)).filter(isWork);
}

/** Inserts a run's waits, each before the first row that started after it. */
export function withWaits(rows: Row[], waits: WaitLine[]): Row[] {
  const left = waits.map((wait): Row => ({ ...wait, depth: 0, folded: false }));
  const all = rows.flatMap((row) => {
    const isLater = (wait: Row) =>
      row.kind === "attempt" || row.runId !== wait.runId || row.startedAt < wait.startedAt;
    const firstLater = left.findIndex(isLater);
    return [...left.splice(0, firstLater < 0 ? left.length : firstLater), row];
  });
  return [...all, ...left];
}

/** The lines that hide a line when folded, outermost first; null if there is no such line. */
export function holdersOf(lines: readonly Line[], id: string): Line[] | null {
  for (const line of lines) {
    if (line.id === id) return [];
    const inner = holdersOf(line.children, id);
    if (inner) return line.holds ? [line, ...inner] : inner;
  }
  return null;
}

/** Returns true if a line failed in a way that mattered to its run. */
export function hasFailed({ status }: Line): boolean {
  return status !== "Completed" && status !== "Tolerated" && status !== "Skipped";
}

/** Returns true if a line is a step or model call, and not an attempt, a wait or a group. */
export function isWork<Each extends Line>(line: Each): line is Each & WorkLine {
  return line.kind === "step" || line.kind === "call";
}

export function isStep<Each extends Line>(line: Each): line is Each & WorkLine & { kind: "step" } {
  return line.kind === "step";
}

/** About a screen of rows. A step with more items starts folded, so that what follows is visible. */
const MAX_UNFOLDED = 20;

export function startsFolded(line: Line): boolean {
  return line.kind === "group" && line.items.length > MAX_UNFOLDED;
}
