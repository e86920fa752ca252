import type { Actor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { AppError } from "@/server/base/errors";
import type { ErrorCode } from "@/server/contract/errors";
import type { Services } from "@/server/runs/services";
import { boundOfSteps } from "./bound-of-steps";
import { stepsLeft } from "./fork/possible-calls";
import { findRejection, findStartTarget, freezeStart, type StartRequest } from "./prepare-start";
import { insufficientCredits } from "./start";
import { narrowestCap } from "./start-item";

/** `path`: a JSON pointer into a tool's input. */
type EstimateIssue = { code: ErrorCode; message: string; path?: string };

/**
 * Makes the checks of a start without starting a run. Returns the credits that it would hold, the most that the run
 * can use (null: only the balance limits it), the balance, and what would reject it. Throws `not_found`.
 */
export async function estimateStart(
  services: Services,
  actor: Actor,
  request: StartRequest,
): Promise<{ hold: Decimal; mostCredits: Decimal | null; balance: Decimal; issues: EstimateIssue[] }> {
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
  const steps = request.fork
    ? stepsLeft(request.fork)
    : target.kind === "tool"
      ? target.configuration.definition.steps
      : undefined;
  const limits = [
    narrowestCap({ target, actor, request })?.credits,
    steps && boundOfSteps(steps, services.prices),
  ];
  const known = limits.filter((limit) => limit !== undefined);
  return {
    hold,
    mostCredits: known.length === 0 ? null : Decimal.min(...known),
    balance,
    issues: rejections.flatMap(issuesOf),
  };
}

function issuesOf({ code, message, issues }: AppError): EstimateIssue[] {
  if (issues === undefined) return [{ code, message }];
  return issues.map(({ path, message: text }) => ({ code, message: text, ...(path === "" ? {} : { path }) }));
}
