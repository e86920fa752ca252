import type { Decimal } from "@/server/base/amount";
import type { PriceList } from "@/server/base/models/price-list";
import { creditsOfActions } from "@/server/credits/prices";
import { findFunction } from "@/server/work/functions/core/registry";
import { WORKFLOW_LIMITS, type WorkflowStep } from "@/server/work/workflow/definition";

/** The most that steps of a tool can use by their definition. Undefined if models or other runs decide it. */
export function boundOfSteps(steps: readonly WorkflowStep[], prices: PriceList): Decimal | undefined {
  const calls = steps.flatMap(({ parallel, ...step }) => parallel ?? [step]);
  if (!calls.every(isPriced)) return undefined;
  const actions = calls.map(({ forEach }) => (forEach === undefined ? 1 : WORKFLOW_LIMITS.items));
  return creditsOfActions(
    prices,
    actions.reduce((sum, count) => sum + count, 0),
  );
}

/** Returns true if a step costs only its action. */
function isPriced({ uses }: { uses?: string | undefined }): boolean {
  const called = findFunction(uses ?? "");
  if (called === undefined || called.callsModels) return false;
  return typeof called.run === "function" || called.run.engine === "wait";
}
