import type { Actor } from "@/server/base/actor";
import { AppError, type Issue } from "@/server/base/errors";
import { rejection } from "@/server/base/issues";
import { rejectInvalidText } from "@/server/base/json/body";
import { stringifyLarge } from "@/server/base/json/large";
import { findTarget } from "@/server/runs/find-target";
import type { Services } from "@/server/runs/services";
import type { Target } from "@/server/runs/target";
import { changeConfiguration, findChangeIssue } from "./change-configuration";
import type { ForkRequest } from "./changes";
import { type Cut, findCut } from "./cut";
import { type Origin, readOrigin } from "./read-origin";

/** A checked fork. It changes nothing until it is started. */
export type ForkPlan = {
  origin: Origin;
  request: ForkRequest;
  cut: Cut;
  /** The origin's target with the changed configuration. */
  target: Target;
  /** The user message of an agent, the JSON input of a tool. */
  input: string;
  /** JSON text, instead of the output of the step that `fromStep` names. */
  output: string | undefined;
};

/**
 * Plans a fork of an ended run. Throws `not_found`, `conflict` for an open run, `agent_inactive`, and
 * `invalid_request` with issues.
 */
export async function planFork(
  services: Services,
  actor: Actor,
  { runId, ...request }: ForkRequest & { runId: string },
): Promise<ForkPlan> {
  const { changes } = request;
  const origin = await readOrigin(services, actor, runId);
  const current = await findTarget(services, actor.orgId, { kind: origin.kind, id: origin.targetId });
  if (current === null) {
    throw new AppError("not_found", `The run's ${origin.kind} was deleted.`);
  }
  if (current.kind === "agent" && !current.active)
    throw new AppError("agent_inactive", "The agent is inactive.");
  const found = findCut(origin, request);
  if ("issue" in found) throw rejection([found.issue]);
  const { cut } = found;
  const issue: Issue | null = findChangeIssue(origin, cut, changes);
  if (issue !== null) throw rejection([issue]);
  for (const name of ["input", "output"] as const) {
    const value = changes[name];
    if (value !== undefined) await rejectInvalidText(value, `/changes/${name}`);
  }
  const changed = await changeConfiguration(services, actor.orgId, { origin, cut, request });
  if ("issue" in changed) throw rejection([changed.issue]);
  const { id, maxCredits, deadlineSeconds } = current;
  const { name } = origin;
  const common = { id, name, version: changed.version, maxCredits, deadlineSeconds };
  const { configuration } = changed;
  return {
    origin,
    request,
    cut,
    target:
      configuration.kind === "agent"
        ? { ...common, kind: "agent", active: true, configuration }
        : { ...common, kind: "tool", configuration },
    input: changes.userMessage ?? origin.input,
    output: changes.output === undefined ? undefined : await stringifyLarge(changes.output),
  };
}
