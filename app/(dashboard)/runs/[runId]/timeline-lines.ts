import type { CallLine, RunDetail, RunInspection, StepLine } from "@/server/runs/inspect";

/**
 * One line of the timeline: a call of the model, or a step. `slug` names it in the address. A step of a tool is called
 * by its id in the definition (`fetch`, `page[3]`), one of an agent by what the model called.
 */
export type Line =
  | { kind: "call"; slug: string; call: CallLine; label: string; depth: number }
  | { kind: "step"; slug: string; step: StepLine; label: string; depth: number };

/**
 * Puts steps and model calls in reading order: by iteration, in each the thinking first, then its steps by
 * number, a model call made inside a step below that step.
 */
export function linesOf({ run, steps, calls }: Pick<RunInspection, "run" | "steps" | "calls">): Line[] {
  const inside = new Map<string, CallLine[]>();
  const own: CallLine[] = [];
  const stepKeys = new Set(steps.map((step) => step.key));
  for (const call of calls) {
    const parent = call.key.includes("/") ? call.key.slice(0, call.key.lastIndexOf("/")) : "";
    if (stepKeys.has(parent)) inside.set(parent, [...(inside.get(parent) ?? []), call]);
    else own.push(call);
  }
  const depth = run.kind === "agent" ? 1 : 0;
  const lines: Line[] = [];
  const iterations = [...new Set([...own, ...steps].map((each) => each.iteration))].sort((a, b) => a - b);
  for (const iteration of iterations) {
    for (const call of own.filter((each) => each.iteration === iteration)) {
      lines.push({ kind: "call", slug: call.key, call, label: callLabel(call), depth: 0 });
    }
    const ofIteration = steps
      .filter((each) => each.iteration === iteration)
      .sort((a, b) => a.number - b.number);
    for (const step of ofIteration) {
      const label = run.kind === "agent" ? step.name : step.key;
      lines.push({ kind: "step", slug: String(step.number), step, label, depth });
      for (const call of inside.get(step.key) ?? []) {
        lines.push({ kind: "call", slug: call.key, call, label: "model", depth: depth + 1 });
      }
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

/**
 * The line that the address names; else the failure of a failed run; else the newest line of a live run; else
 * the first step.
 */
export function chooseLine(
  lines: Line[],
  address: { step?: string | undefined; call?: string | undefined },
  run: Pick<RunDetail, "status">,
): Line | null {
  const named = lines.find(
    (line) =>
      (line.kind === "step" && line.slug === address.step) ||
      (line.kind === "call" && line.slug === address.call),
  );
  if (named) return named;
  if (run.status === "Failed") {
    const failed = lines.findLast((line) => lineFacts(line).status !== "Completed");
    if (failed) return failed;
  }
  if (run.status === "Running") return lines.at(-1) ?? null;
  return lines.find((line) => line.kind === "step") ?? lines[0] ?? null;
}
