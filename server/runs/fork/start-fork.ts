import type { ApiKeyActor, MemberActor } from "@/server/base/actor";
import { AppError, codeOf } from "@/server/base/errors";
import { isJsonObject } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import type { StartRequest } from "@/server/runs/prepare-start";
import type { Services } from "@/server/runs/services";
import { type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import { type StartOptions, withMetadataOf } from "@/server/runs/start-options";
import { isFromOutside } from "@/server/work/agent/definition";
import type { ForkPlan } from "./plan-fork";

// SQL state of `take_over_rows`.
const ORIGIN_DELETED = "SW003";

/**
 * Starts a planned fork, with the metadata of its origin. Throws `not_found` if the origin was deleted meanwhile,
 * and the errors of `startRun`.
 */
export async function startFork(
  services: Services,
  actor: MemberActor | ApiKeyActor,
  {
    plan,
    options,
    conditions,
  }: { plan: ForkPlan; options?: StartOptions | undefined; conditions?: StartConditions | undefined },
): Promise<StartResult> {
  const request = {
    ...(await forkStart(plan)),
    options: withMetadataOf(plan.origin, options),
    conditions,
  };
  return startRun(services, actor, request).catch((error: unknown) => {
    if (codeOf(error) !== ORIGIN_DELETED) throw error;
    throw new AppError("not_found", "Run not found.", { cause: error });
  });
}

/** The start of a fork, without options. */
export async function forkStart(plan: ForkPlan): Promise<StartRequest> {
  const { origin, target, request } = plan;
  // A changed message comes from the caller.
  const fromOutside = isFromOutside(origin.configuration) && request.changes.userMessage === undefined;
  const common = { targetId: origin.targetId, fork: plan, fromOutside };
  if (target.kind === "agent") return { kind: "agent", userMessage: plan.input, ...common };
  const input = await readLargeJson(plan.input);
  return { kind: "tool", input: isJsonObject(input) ? input : {}, ...common };
}
