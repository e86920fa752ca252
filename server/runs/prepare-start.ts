import type { Actor, OrgId } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import type { JsonObject } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import { headroomForFirstCall, holdForFirstCall, SMALLEST_HOLD } from "@/server/credits/prices";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import type { Services } from "@/server/runs/services";
import { isFromOutside, type RunConfiguration, type ToolConfiguration } from "@/server/work/agent/definition";
import { offeredTools, openingMessages } from "@/server/work/agent/prompts";
import type { AgentSettings } from "@/server/work/agent/settings";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { configureAgent, findTarget } from "./find-target";
import type { ForkPlan } from "./fork/plan-fork";
import type { StartOptions } from "./start-options";
import { freezeConfiguration, type Target } from "./target";

/** An unsaved, checked definition. It runs instead of the current version, also if the agent is inactive. */
export type Draft = Pick<Target, "maxCredits" | "deadlineSeconds"> &
  ({ kind: "agent"; settings: AgentSettings } | Omit<ToolConfiguration, "name">);

export type StartRequest = (
  | { kind: "agent"; targetId: string; userMessage: string }
  | { kind: "tool"; targetId: string; input: JsonObject }
) & {
  /** No trigger starts this run: it repeats one whose input a webhook sent. */
  fromOutside?: boolean | undefined;
  draft?: Draft | undefined;
  /** The run continues another one, with that one's target. */
  fork?: ForkPlan | undefined;
  options?: StartOptions | undefined;
  /** Recorded as accepted in the start's transaction. */
  delivery?: (ReceivedDelivery & { receivedAt: Date }) | undefined;
};

export type PreparedStart = Awaited<ReturnType<typeof prepareStart>>;

/**
 * Finds the target, freezes its configuration and bounds the first call's cost. Throws AppError `not_found`,
 * `agent_inactive` and `invalid_request` with issues.
 */
export async function prepareStart(services: Services, actor: Actor, request: StartRequest) {
  const target = await findStartTarget(services, actor, request);
  const rejection = await findRejection(actor, target, request);
  if (rejection !== null) throw rejection;
  return freezeStart(services, actor, { target, request });
}

/** The agent or tool of a start. Throws `not_found`. */
export async function findStartTarget(
  services: Services,
  { orgId }: Actor,
  { kind, targetId, draft, fork }: StartRequest,
): Promise<Target> {
  if (fork !== undefined) return fork.target;
  const target = await findTarget(services, orgId, { kind, id: targetId });
  if (target === null)
    throw new AppError("not_found", kind === "agent" ? "Agent not found." : "Tool not found.");
  return draft ? withDraft(services, { orgId, target, draft }) : target;
}

/** The reason why the target does not take this start; null if it does. */
export async function findRejection(
  { orgId }: Actor,
  target: Target,
  request: StartRequest,
): Promise<AppError | null> {
  if (target.kind === "agent") {
    return target.active ? null : new AppError("agent_inactive", "The agent is inactive.");
  }
  const input = request.kind === "tool" ? request.input : {};
  const issues = await validateAgainst(target.configuration.definition.parameters, input, orgId);
  if (issues.length === 0) return null;
  return new AppError("invalid_request", "The input does not match the tool's parameters.", { issues });
}

export async function freezeStart(
  services: Services,
  actor: Actor,
  { target, request }: { target: Target; request: StartRequest },
) {
  const fromOutside = actor.kind === "trigger" || request.fromOutside === true;
  if (target.kind === "agent" && request.kind === "agent") {
    const configuration = { ...target.configuration, messageFromOutside: fromOutside };
    const prompt = {
      messages: openingMessages(configuration, request.userMessage),
      tools: offeredTools(configuration.callables),
      responseSchema: configuration.outputSchema,
    };
    const { models, prices } = services;
    const promptTokens = models.boundTokens(prompt);
    const callable = [configuration.model, ...(configuration.fallbackModels ?? [])];
    // From an upper bound of the prompt's tokens.
    const hold = holdForFirstCall(prices, callable, promptTokens);
    return {
      target,
      configuration,
      ...freeze(services, target, configuration),
      input: replaceNul(request.userMessage),
      hold,
      headroom: headroomForFirstCall(prices, callable, { promptTokens, hold }),
      countHold: async () => holdForFirstCall(prices, callable, await models.countTokens(prompt)),
    };
  }
  if (target.kind === "tool" && request.kind === "tool") {
    const configuration = fromOutside ? { ...target.configuration, fromOutside } : target.configuration;
    return {
      target,
      configuration,
      ...freeze(services, target, configuration),
      input: await stringifyLarge(request.input),
      hold: SMALLEST_HOLD,
      headroom: services.prices.action.mul(Math.max(0, configuration.definition.steps.length - 1)),
      countHold: async () => SMALLEST_HOLD,
    };
  }
  throw new Error("target and request are of different kinds");
}

/** The names of its runs end with "(draft)". */
async function withDraft(
  { pool }: Pick<Services, "pool">,
  { orgId, target, draft }: { orgId: OrgId; target: Target; draft: Draft },
): Promise<Target> {
  const name = `${target.name} (draft)`;
  const { maxCredits, deadlineSeconds } = draft;
  const changed = { name, maxCredits, deadlineSeconds };
  if (target.kind === "tool" && draft.kind === "tool") {
    const { kind, definition, pinned } = draft;
    const configuration = { kind, name, definition, ...(pinned === undefined ? {} : { pinned }) };
    return { ...target, ...changed, configuration };
  }
  if (target.kind === "agent" && draft.kind === "agent") {
    const configuration = await configureAgent(pool, { orgId, name, settings: draft.settings });
    return { ...target, ...changed, active: true, configuration };
  }
  throw new Error("target and draft are of different kinds");
}

// Up to two of each.
const frozen = new WeakMap<Target, Map<boolean, Frozen>>();
type Frozen = ReturnType<typeof freezeConfiguration>;

function freeze({ prices }: Pick<Services, "prices">, target: Target, configuration: RunConfiguration) {
  const variant = isFromOutside(configuration);
  const variants = frozen.get(target) ?? new Map<boolean, Frozen>();
  frozen.set(target, variants);
  const known = variants.get(variant) ?? freezeConfiguration(configuration, prices);
  variants.set(variant, known);
  return known;
}
