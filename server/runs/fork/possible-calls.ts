import { findFunction } from "@/server/work/functions/core/registry";
import type { WorkflowDefinition } from "@/server/work/workflow/definition";
import type { ForkPlan } from "./plan-fork";

/** A function or tool with side effects; `step`: the id of the tool's step that calls it, null for an agent. */
type SideEffect = { name: string; step: string | null };

/** The steps of a tool that a fork may execute; undefined for an agent. None if the record answers all calls. */
export function stepsLeft({ target, cut, request }: ForkPlan): WorkflowDefinition["steps"] | undefined {
  if (target.kind === "agent") return undefined;
  const { steps } = target.configuration.definition;
  const index = steps.findIndex(({ id }) => id === cut.stepId);
  return request.tools === "recorded" || index < 0 ? [] : steps.slice(index);
}

/** The functions and tools that a fork may execute and that change something outside the run. */
export function sideEffectsOf(plan: ForkPlan): SideEffect[] {
  if (plan.request.tools === "recorded") return [];
  const { target } = plan;
  if (target.kind === "agent") {
    return target.configuration.callables
      .filter((each) =>
        each.kind === "function" ? hasSideEffects(each.name) : changesSomething(each.definition.steps),
      )
      .map(({ name }) => ({ name, step: null }));
  }
  const calls = (stepsLeft(plan) ?? []).flatMap(({ parallel, ...step }) => parallel ?? [step]);
  return calls.flatMap(({ id, uses = "" }) => (hasSideEffects(uses) ? [{ name: uses, step: id }] : []));
}

const hasSideEffects = (name: string) => findFunction(name)?.hasSideEffects ?? false;

const changesSomething = (steps: WorkflowDefinition["steps"]) =>
  steps.flatMap(({ parallel, ...step }) => parallel ?? [step]).some(({ uses = "" }) => hasSideEffects(uses));
