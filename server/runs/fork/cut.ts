import type { Issue } from "@/server/base/errors";
import type { FailureCode } from "@/server/runs/failure-codes";
import type { RunConfiguration } from "@/server/work/agent/definition";
import type { WorkflowDefinition, WorkflowStep } from "@/server/work/workflow/definition";
import type { ForkChanges } from "./changes";
import type { Origin, OriginCall, OriginStep } from "./read-origin";

/** The place where a fork leaves its origin: everything before it is taken over. */
export type Cut = {
  /** The number of the first step that is not taken over: the first of its iteration, group or `forEach`. */
  step: number;
  calls: OriginCall[];
  steps: OriginStep[];
  /** The step that `fromStep` names; undefined: it is behind the last one. */
  named: OriginStep | undefined;
  /** The first iteration of an agent whose model call is made again. */
  iteration: number;
  /** The id of a tool's first step that is not taken over; undefined: only its output is evaluated. */
  stepId: string | undefined;
};

/**
 * Finds the cut. With a changed input or output, an agent's model call that asked for the step is taken over, too; a
 * step with a changed output is taken over with it.
 */
export function findCut(
  origin: Origin,
  { fromStep, changes }: { fromStep: number; changes: ForkChanges },
): { cut: Cut } | { issue: Issue } {
  const last = origin.steps.at(-1)?.number ?? 0;
  const named = origin.steps.find(({ number }) => number === fromStep);
  // A fork's steps may leave a number out.
  if (named === undefined && fromStep > 0 && fromStep <= last) {
    const message = `must be the number of a step, or ${last + 1}. The run has no step ${fromStep}`;
    return { issue: { path: "/fromStep", message } };
  }
  if (named === undefined && fromStep !== last + 1) {
    const steps = last === 0 ? "The run has no steps" : `The run has steps 1 to ${last}`;
    return { issue: { path: "/fromStep", message: `must be from 1 to ${last + 1}. ${steps}` } };
  }
  const replaced = changes.output === undefined ? undefined : named;
  const { configuration } = origin;
  const cut = configuration.kind === "agent" ? cutAgent() : cutTool(configuration.definition);
  if (
    named === undefined &&
    ENDED_BY_STEPS.has(origin.errorCode ?? "") &&
    hasFailedLast(cut, configuration)
  ) {
    const message = `must be from 1 to ${last}. The last step failed and ended the run; taken over, it would end the fork`;
    return { issue: { path: "/fromStep", message } };
  }
  return { cut };

  function cutAgent(): Cut {
    const lastIteration = origin.steps.at(-1)?.iteration ?? 0;
    const iteration = named?.iteration ?? lastIteration + 1;
    const keepsCall = named !== undefined && (replaced !== undefined || changes.input !== undefined);
    const next = keepsCall ? iteration + 1 : iteration;
    return {
      step: firstNumber((step) => step.iteration >= iteration),
      calls: origin.calls.filter((call) => call.key !== "answer" && call.iteration < next),
      steps: origin.steps.filter((step) => step.iteration < iteration || step === replaced),
      named,
      iteration: next,
      stepId: undefined,
    };
  }

  function cutTool({ steps }: WorkflowDefinition): Cut {
    const stepId = named === undefined ? stepWithoutRow(steps) : topLevelId(steps, named.key);
    const index = steps.findIndex(({ id }) => id === stepId);
    const before = new Set((index < 0 ? steps : steps.slice(0, index)).map(({ id }) => id));
    const isBefore = ({ key }: OriginStep) => before.has(topLevelId(steps, key) ?? "");
    return {
      step: firstNumber((step) => !isBefore(step)),
      calls: [],
      steps: origin.steps.filter((step) => isBefore(step) || step === replaced),
      named,
      iteration: 1,
      stepId,
    };
  }

  // A step has no row if the run ended before it, or before its call: its condition or input could not be evaluated.
  function stepWithoutRow(steps: WorkflowDefinition["steps"]): string | undefined {
    if (origin.status === "Completed") return undefined;
    const ids = new Set(origin.steps.map(({ key }) => idOf(key)));
    const rowsOf = ({ id, parallel }: WorkflowStep) =>
      parallel === undefined || ids.has(id) ? [ids.has(id)] : parallel.map((inner) => ids.has(inner.id));
    const index = steps.findLastIndex((step) => rowsOf(step).includes(true));
    const last = steps[index];
    // A group of which a step is missing begins again.
    return last !== undefined && rowsOf(last).includes(false) ? last.id : steps[index + 1]?.id;
  }

  function firstNumber(isAfter: (step: OriginStep) => boolean): number {
    return origin.steps.find(isAfter)?.number ?? last + 1;
  }
}

const ENDED_BY_STEPS: ReadonlySet<string> = new Set<FailureCode>(["repeated_failure", "step_failed"]);

// Of an agent's last round of calls, or of a tool's last step with the others of its group or forEach.
function hasFailedLast({ steps }: Cut, configuration: RunConfiguration): boolean {
  const partOf = ({ key, iteration }: OriginStep) =>
    configuration.kind === "agent" ? iteration : topLevelId(configuration.definition.steps, key);
  // The tool continued after these.
  const continued = configuration.kind === "agent" ? [] : continuedIds(configuration.definition.steps);
  const last = steps.at(-1);
  return steps.some(
    (step) =>
      last !== undefined &&
      partOf(step) === partOf(last) &&
      step.status === "Failed" &&
      !continued.includes(idOf(step.key)),
  );
}

/** The size of the texts that a fork keeps in memory from its start. */
export function bytesTakenOver({ calls, steps }: Pick<Cut, "calls" | "steps">): number {
  return [...calls, ...steps].reduce((sum, { bytes }) => sum + bytes, 0);
}

const continuedIds = (steps: WorkflowDefinition["steps"]): string[] =>
  steps
    .flatMap((step) => [step, ...(step.parallel ?? [])])
    .filter(({ onError }) => onError === "continue")
    .map(({ id }) => id);

const idOf = (key: string) => key.replace(/\[\d+\]$/, "");

function topLevelId(steps: WorkflowDefinition["steps"], key: string): string | undefined {
  const id = idOf(key);
  return steps.find((step) => step.id === id || step.parallel?.some((inner) => inner.id === id))?.id;
}
