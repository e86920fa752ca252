import type { Actor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { AppError } from "@/server/base/errors";
import type { PriceList } from "@/server/base/models/price-list";
import type { ErrorCode } from "@/server/contract/errors";
import { creditsOfActions } from "@/server/credits/prices";
import type { Services } from "@/server/runs/services";
import { findFunction } from "@/server/work/functions/core/registry";
import { WORKFLOW_LIMITS } from "@/server/work/workflow/definition";
import { findRejection, findStartTarget, freezeStart, type StartRequest } from "./prepare-start";
import { insufficientCredits } from "./start";
import { narrowestCap } from "./start-item";
import type { Target } from "./target";

/** `path`: a JSON pointer into a tool's input. */
type EstimateIssue = { code: ErrorCode; message: string; path?: string };

/**
 * Makes the checks of a start without starting a run. Returns the credits that it would hold, the most that the run
 * can use (null: only the balance limits it), and what would reject it. Throws `not_found`.
 */
export async function estimateStart(
  services: Services,
  actor: Actor,
  request: StartRequest,
): Promise<{ hold: Decimal; mostCredits: Decimal | null; issues: EstimateIssue[] }> {
  const target = await findStartTarget(services, actor, request);
  const rejection = await findRejection(actor, target, request);
  const start = await freezeStart(services, actor, { target, request });
  const { balance } = await services.db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    select: { balance: true },
  });
  // As a start does: tokens are counted only if the quick bound would be rejected.
  const hold = balance.lt(start.hold) ? Decimal.min(start.hold, await start.countHold()) : start.hold;
  const rejections = rejection === null ? [] : [rejection];
  if (balance.lt(hold)) rejections.push(await insufficientCredits(services, actor, hold));
  const limits = [narrowestCap({ target, actor, request })?.credits, boundOfSteps(target, services.prices)];
  const known = limits.filter((limit) => limit !== undefined);
  return {
    hold,
    mostCredits: known.length === 0 ? null : Decimal.min(...known),
    issues: rejections.flatMap(issuesOf),
  };
}

function issuesOf({ code, message, issues }: AppError): EstimateIssue[] {
  if (issues === undefined) return [{ code, message }];
  return issues.map(({ path, message: text }) => ({ code, message: text, ...(path === "" ? {} : { path }) }));
}

/** The most that a run of the target can use by its definition. Undefined if models or other runs decide it. */
function boundOfSteps(target: Target, prices: PriceList): Decimal | undefined {
  if (target.kind === "agent") return undefined;
  const calls = target.configuration.definition.steps.flatMap(({ parallel, ...step }) => parallel ?? [step]);
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
