import type { CallLine, RunDetail, StepLine } from "@/server/runs/inspect";

/**
 * One line of the timeline: a call of the model, or a step. A step of a tool is called by its id in the definition
 * (`fetch`, `page[3]`), one of an agent by what the model called.
 */
export type Line = {
  /** The run it belongs to: the page's own, or one that a step of it started. */
  runId: string;
  /** Names it in the address: `3`, `think-2`; `3.1` is step 1 of the run that step 3 started. */
  slug: string;
  label: string;
  depth: number;
} & ({ kind: "call"; call: CallLine } | { kind: "step"; step: StepLine });

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
): Line[] {
  const inside = new Map<string, CallLine[]>();
  const own: CallLine[] = [];
  const stepKeys = new Set(steps.map((step) => step.key));
  for (const call of calls) {
    const parent = call.key.includes("/") ? call.key.slice(0, call.key.lastIndexOf("/")) : "";
    if (stepKeys.has(parent)) inside.set(parent, [...(inside.get(parent) ?? []), call]);
    else own.push(call);
  }
  const lines: Line[] = [];
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

/** The id of a line's row. */
export function lineId(line: Line): string {
  return line.kind === "step" ? line.step.id : line.call.id;
}

/** What a line says of its state and times. */
export function lineFacts(line: Line): Pick<StepLine, "status" | "startedAt" | "finishedAt" | "durationMs"> {
  return line.kind === "step" ? line.step : line.call;
}

/** The line that the page's address names. */
export type LineAddress = { step?: string | undefined; call?: string | undefined };

/** The run that must be unfolded for the line which the address names to be there. */
export function runToUnfold({ step, call }: LineAddress, steps: StepLine[]): string | null {
  const number = /^(\d+)\./.exec(step ?? call ?? "")?.[1];
  return steps.find((each) => String(each.number) === number)?.childRunId ?? null;
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
  const named = lines.find(
    (line) =>
      (line.kind === "step" && line.slug === address.step) ||
      (line.kind === "call" && line.slug === address.call),
  );
  if (named) return named;
  const own = lines.filter((line) => line.runId === run.id);
  if (run.status === "Failed") {
    const failed = own.findLast((line) => lineFacts(line).status !== "Completed");
    if (failed) return failed;
  }
  if (run.status === "Running") return own.at(-1) ?? null;
  return own.find((line) => line.kind === "step") ?? own[0] ?? null;
}
