import type { Actor } from "@/server/base/actor";
import { Decimal, ZERO } from "@/server/base/amount";
import { creditsOfActions, creditsOfUsage } from "@/server/credits/prices";
import { estimateStart } from "@/server/runs/estimate-start";
import type { Services } from "@/server/runs/services";
import type { StartOptions } from "@/server/runs/start-options";
import type { ForkPlan } from "./plan-fork";
import { sideEffectsOf } from "./possible-calls";
import { forkStart } from "./start-fork";

/** An estimate with amounts as decimals of four places. */
export function viewEstimate({
  hold,
  mostCredits,
  sameUsage,
  ...facts
}: Awaited<ReturnType<typeof estimateFork>>) {
  const amounts = {
    hold: hold.toFixed(4),
    mostCredits: mostCredits.toFixed(4),
    sameUsage: sameUsage.toFixed(4),
  };
  return { ...facts, ...amounts };
}

/**
 * Makes the checks of a fork's start without starting it. The most that it can cost is at most the balance.
 * `sameUsage`: what the origin's usage from the cut on costs today, without runs that it called. `sideEffects`: what
 * the fork may execute and change outside.
 */
export async function estimateFork(
  services: Services,
  actor: Actor,
  { plan, options }: { plan: ForkPlan; options?: StartOptions | undefined },
) {
  const request = { ...(await forkStart(plan)), options };
  const { hold, mostCredits, balance, issues } = await estimateStart(services, actor, request);
  return {
    fromStep: plan.cut.step,
    takenOver: plan.cut.steps.length,
    hold,
    mostCredits: Decimal.min(mostCredits ?? balance, balance),
    sameUsage: sameUsage(services, plan),
    sideEffects: sideEffectsOf(plan),
    issues,
  };
}

function sameUsage(
  { prices }: Pick<Services, "prices">,
  { origin, cut, request, target }: ForkPlan,
): Decimal {
  const ofSteps = request.tools === "live" ? usageOfSteps() : ZERO;
  if (target.kind !== "agent") return ofSteps;
  const { model } = target.configuration;
  const isSame = origin.configuration.kind === "agent" && origin.configuration.model === model;
  return origin.calls
    .filter((call) => !cut.calls.includes(call) && (call.isCharged || !isSame))
    .reduce((sum, usage) => sum.add(creditsOfUsage(prices, model, usage)), ofSteps);

  function usageOfSteps(): Decimal {
    const executed = origin.steps.filter((step) => !cut.steps.includes(step));
    const actions = executed.reduce((sum, step) => sum + step.actions, 0);
    const keys = new Set<string | null>(executed.map(({ key }) => key));
    return origin.functionCalls
      .filter(({ step, isCharged }) => isCharged && keys.has(step))
      .reduce(
        (sum, call) => sum.add(creditsOfUsage(prices, call.model, call)),
        creditsOfActions(prices, actions),
      );
  }
}
