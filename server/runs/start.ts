import { createHash } from "node:crypto";
import type { AgentConfiguration, RunConfiguration } from "@/server/agent/definition";
import { offeredTools } from "@/server/agent/offered-tools";
import { openingMessages } from "@/server/agent/prompts";
import { type Actor, actorReference } from "@/server/auth/actor";
import { type Decimal, ZERO } from "@/server/credits/amount";
import { freezePrices, headroomForFirstCall, holdForFirstCall, SMALLEST_HOLD } from "@/server/credits/prices";
import { isForeignKeyViolation, isUniqueViolation } from "@/server/db/sql";
import { AppError, isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import type { JsonObject } from "@/server/json";
import { stringifyLarge } from "@/server/large-json";
import { type CountedLimit, type RateDecision, rateLimited } from "@/server/limits/rate-limit";
import { replaceNul } from "@/server/secrets/stored-output";
import type { Services } from "@/server/services";
import type { ReceivedDelivery } from "@/server/webhooks/deliveries";
import type { WorkflowDefinition } from "@/server/workflow/definition";
import { validateAgainst } from "@/server/workflow/schema";
import type { Cap, ClaimedRun } from "./engine/claimed-run";
import type { Worker } from "./engine/port";
import { withWorker } from "./engine/with-worker";
import type {
  DeliveryItem,
  RateLeft,
  RefusalItem,
  Replay,
  StartItem,
  StartVerdict,
} from "./engine/write/flush-items";
import { findTarget } from "./find-target";
import type { IdempotentRequest } from "./idempotency";
import type { Target } from "./target";

/**
 * An unsaved definition of an agent or a tool, which must have been checked. It runs instead of the current version, also
 * if the agent is inactive.
 */
export type Draft = Pick<Target, "maxCredits" | "deadlineSeconds"> &
  (
    | { definition: WorkflowDefinition }
    | Pick<AgentConfiguration, "model" | "systemPrompt" | "maxSteps" | "callables" | "outputSchema">
  );

export type StartRequest = (
  | {
      kind: "agent";
      targetId: string;
      userMessage: string;
      /** The message is from outside although no trigger starts this run: it repeats a webhook's run. */
      messageFromOutside?: boolean;
    }
  | { kind: "tool"; targetId: string; input: JsonObject }
) & {
  draft?: Draft | undefined;
  /** The webhook call that starts the run, recorded as accepted in the start's transaction. */
  delivery?: (ReceivedDelivery & { receivedAt: Date }) | undefined;
};

/** How a start counts and what it may repeat, both decided in the start's transaction. */
export type StartConditions = {
  limit?: CountedLimit | undefined;
  idempotency?: IdempotentRequest | undefined;
  /** A webhook's repetition is checked before its rate limit, an API call's after. */
  replayFirst?: boolean;
  /** Set once limit and repetition were checked: a later refusal is then final. */
  asked?: boolean;
};

export type StartResult = { rate: RateDecision | null } & (
  | { runId: string; replay: null }
  /** The stored response of an earlier equal request. */
  | { runId: string; replay: string }
);

/**
 * Starts a run: one item of the writer's next flush inserts it with its frozen configuration, holds its credits and
 * decides whether it executes here at once or waits for a slot (docs/engine.md). Throws AppError `not_found`,
 * `agent_inactive`, `invalid_request` with issues, `insufficient_credits`, `organization_suspended`, `rate_limited`,
 * `idempotency_conflict`. If `conditions` has a limit, call `refuseStart` for earlier refusals.
 */
export async function startRun(
  services: Services,
  actor: Actor,
  request: StartRequest,
  conditions: StartConditions = {},
): Promise<StartResult> {
  conditions.asked = true;
  let prepared: Prepared;
  try {
    prepared = await prepare(services, actor, request);
  } catch (error) {
    return refuseStart(services, actor, error, conditions);
  }
  const runId = newId();
  let result = await commit(services, { actor, request, conditions, prepared, runId });
  if ("refused" in result) {
    const { rate } = result;
    // The quick bound usually suffices; tokens are counted only if it would be refused.
    const hold = await prepared.countHold();
    if (hold.lt(prepared.hold)) {
      const counted = { ...prepared, hold, headroom: ZERO };
      // The first attempt counted the call.
      const { limit: _, ...uncounted } = conditions;
      result = {
        ...(await commit(services, { actor, request, conditions: uncounted, prepared: counted, runId })),
        rate,
      };
    }
  }
  if ("refused" in result) {
    throw withRate(
      new AppError("insufficient_credits", "Insufficient credits."),
      conditions.limit,
      result.rate,
    );
  }
  return result;
}

/**
 * Refuses a start with `error`, unless its limit is reached or it repeats an accepted start, which then answers. The
 * call counts against its limit. Throws `rate_limited`, `idempotency_conflict` or `error`.
 */
export async function refuseStart(
  services: Services,
  actor: Actor,
  error: unknown,
  conditions: StartConditions,
): Promise<StartResult> {
  conditions.asked = true;
  const { limit, idempotency } = conditions;
  if (limit === undefined && idempotency === undefined) throw error;
  const item: RefusalItem = { org: actor.orgId, ...limitItem(limit), ...repetitionItem(conditions) };
  const verdict = await withWorker(services.engine, ({ accounts }) => accounts.refuse(item));
  const rate = decision(limit, verdict.rate, verdict.verdict !== "rate");
  if (verdict.verdict === "rate") throw rateRefusal(limit, rate);
  if (verdict.verdict === "conflict") throw withRate(conflict(), limit, rate);
  if (verdict.verdict === "replay") return replayed(verdict.replay, rate);
  throw withRate(error, limit, rate);
}

/** The error with the headers of the rate limit that counted the call. */
function withRate(error: unknown, limit: CountedLimit | undefined, rate: RateDecision | null): unknown {
  if (isAppError(error) && rate && limit) Object.assign(error.headers, limit.headers(rate));
  return error;
}

type Prepared = {
  target: Target;
  configuration: RunConfiguration;
  hash: string;
  document: string;
  input: string;
  model: string | null;
  /** What the start holds, from an upper bound of the prompt's tokens. */
  hold: Decimal;
  /** What the first iteration may need in addition. */
  headroom: Decimal;
  /** The hold from the counted prompt. */
  countHold: () => Promise<Decimal>;
};

async function prepare(services: Services, actor: Actor, request: StartRequest): Promise<Prepared> {
  const found = await findTarget(services, actor.orgId, request.kind, request.targetId);
  const target = found && request.draft ? withDraft(found, request.draft) : found;
  if (target === null) {
    throw new AppError("not_found", request.kind === "agent" ? "Agent not found." : "Tool not found.");
  }
  if (target.kind === "agent" && request.kind === "agent") {
    if (!target.active) throw new AppError("agent_inactive", "The agent is inactive.");
    const messageFromOutside = actor.kind === "trigger" || request.messageFromOutside === true;
    const configuration = { ...target.configuration, messageFromOutside };
    const prompt = {
      messages: openingMessages(configuration, request.userMessage),
      tools: offeredTools(configuration.callables),
      responseSchema: configuration.outputSchema,
    };
    const { models, prices } = services;
    const bound = models.boundTokens(prompt);
    return {
      target,
      configuration,
      ...freeze(services, target, configuration),
      input: replaceNul(request.userMessage),
      model: configuration.model,
      hold: holdForFirstCall(prices, configuration.model, bound),
      headroom: headroomForFirstCall(prices, configuration.model, bound),
      countHold: async () => holdForFirstCall(prices, configuration.model, await models.countTokens(prompt)),
    };
  }
  if (target.kind === "tool" && request.kind === "tool") {
    const { configuration } = target;
    const issues = await validateAgainst(configuration.definition.parameters, request.input, actor.orgId);
    if (issues.length > 0) {
      throw new AppError("invalid_request", "The input does not match the tool's parameters.", { issues });
    }
    return {
      target,
      configuration,
      ...freeze(services, target, configuration),
      input: await stringifyLarge(request.input),
      model: null,
      hold: SMALLEST_HOLD,
      headroom: services.prices.action.mul(Math.max(0, configuration.definition.steps.length - 1)),
      countHold: async () => SMALLEST_HOLD,
    };
  }
  throw new Error("target and request are of different kinds");
}

/** The target with a draft in place of its current version. Its runs have a name that says so. */
function withDraft(target: Target, draft: Draft): Target {
  const name = `${target.name} (draft)`;
  const { maxCredits, deadlineSeconds, ...content } = draft;
  const common = { name, maxCredits, deadlineSeconds };
  if (target.kind === "tool" && "definition" in content) {
    return { ...target, ...common, configuration: { kind: "tool", name, ...content } };
  }
  if (target.kind === "agent" && "callables" in content) {
    return { ...target, ...common, active: true, configuration: { kind: "agent", name, ...content } };
  }
  throw new Error("target and draft are of different kinds");
}

/** A configuration with the current prices as JSON, and its SHA-256; computed once per target. */
const frozen = new WeakMap<Target, Map<string, { document: string; hash: string }>>();

function freeze(services: Services, target: Target, configuration: RunConfiguration) {
  const variant = configuration.kind === "agent" ? String(configuration.messageFromOutside) : "tool";
  const variants = frozen.get(target) ?? new Map<string, { document: string; hash: string }>();
  frozen.set(target, variants);
  const known = variants.get(variant);
  if (known) return known;
  const document = JSON.stringify({ ...configuration, prices: freezePrices(services.prices) });
  const made = { document, hash: createHash("sha256").update(document).digest("hex") };
  variants.set(variant, made);
  return made;
}

type Commit = {
  actor: Actor;
  request: StartRequest;
  conditions: StartConditions;
  prepared: Prepared;
  runId: string;
};

/** Commits the start, unless the balance does not allow the hold. */
async function commit(
  services: Services,
  parts: Commit,
): Promise<StartResult | { refused: "credits"; rate: RateDecision | null }> {
  const { actor, conditions, prepared, runId } = parts;
  const { limit } = conditions;
  let startedBy: Worker | undefined;
  const send = (sent: StartItem) =>
    withWorker(services.engine, (worker) => {
      startedBy = worker;
      return worker.accounts.start(sent);
    });
  const item = startItem(parts);
  // The configuration is not known to be stored, or retention has deleted it: the item includes it.
  const withDocument = { ...item, document: prepared.document };
  const isStored = services.configurationsStored.has(`${actor.orgId} ${prepared.hash}`);
  let verdict = await send(isStored ? item : withDocument).catch(
    (error: unknown): Promise<StartVerdict> | StartVerdict => {
      if (isForeignKeyViolation(error, "runs_organization_id_configuration_hash_fkey"))
        return send(withDocument);
      // The worker was lost after it had committed the start: the run exists and waits.
      if (isUniqueViolation(error, "runs_pkey"))
        return { verdict: "wait", at: services.clock.now(), rate: null };
      throw error;
    },
  );
  while (verdict.verdict === "again") verdict = await send(withDocument);
  const rate = decision(limit, verdict.rate, verdict.verdict !== "rate");
  switch (verdict.verdict) {
    case "rate":
      throw rateRefusal(limit, rate);
    case "conflict":
      throw withRate(conflict(), limit, rate);
    case "credits":
      return { refused: "credits", rate };
    case "suspended":
      throw withRate(suspended(actor), limit, rate);
    case "replay":
      return replayed(verdict.replay, rate);
    case "wait":
      services.configurationsStored.set(`${actor.orgId} ${prepared.hash}`, true);
      services.engine.wake();
      services.notifications.send("engine", "waiting", "waiting");
      return { runId, rate, replay: null };
    case "run": {
      services.configurationsStored.set(`${actor.orgId} ${prepared.hash}`, true);
      const held = verdict.held === "hold" ? prepared.hold : prepared.hold.add(prepared.headroom);
      if (startedBy) services.engine.begin(claimedRun(services, parts, { at: verdict.at, held }), startedBy);
      return { runId, rate, replay: null };
    }
  }
}

function startItem({ actor, request, conditions, prepared, runId }: Commit): StartItem {
  const { target, hash, input, model, hold, headroom } = prepared;
  const cap = narrowestCap(target, actor);
  return {
    id: runId,
    org: actor.orgId,
    ...limitItem(conditions.limit),
    ...repetitionItem(conditions),
    response: conditions.idempotency ? JSON.stringify(conditions.idempotency.answer(runId)) : null,
    kind: target.kind,
    agent: target.kind === "agent" ? target.id : null,
    tool: target.kind === "tool" ? target.id : null,
    name: target.name,
    version: target.version,
    model,
    configuration: hash,
    document: null,
    ...originOf(actor),
    input,
    hold: hold.toFixed(4),
    headroom: headroom.toFixed(4),
    cap: cap?.credits.toFixed(4) ?? null,
    cap_of: cap?.of ?? null,
    deadline: target.deadlineSeconds,
    actor: actorReference(actor),
    delivery: request.delivery ? deliveryItem(request.delivery) : null,
  };
}

function claimedRun(
  services: Services,
  parts: Commit,
  { at, held }: { at: Date; held: Decimal },
): ClaimedRun {
  const { actor, prepared, runId } = parts;
  const { target, configuration, input } = prepared;
  return {
    id: runId,
    orgId: actor.orgId,
    kind: target.kind,
    targetId: target.id,
    epoch: 1,
    segment: 1,
    configuration,
    configurationHash: prepared.hash,
    prices: services.prices,
    input,
    rootRunId: runId,
    fromOutside: actor.kind === "trigger",
    createdAt: at,
    startedAt: at,
    deadlineSeconds: target.deadlineSeconds,
    cap: narrowestCap(target, actor),
    held,
    sequence: 1,
    yieldedAt: null,
  };
}

function deliveryItem({
  id,
  headers,
  body,
  senderId,
  redeliveryOf,
  receivedAt,
}: ReceivedDelivery & { receivedAt: Date }): DeliveryItem {
  return {
    id,
    received_at: receivedAt.toISOString(),
    headers,
    body: body.toString("base64"),
    sender: senderId,
    redelivery_of: redeliveryOf,
  };
}

function limitItem(limit: CountedLimit | undefined) {
  // Without a limit its figures are not read.
  return { rate_key: limit?.key ?? null, rate_limit: limit?.limit ?? 0, rate_seconds: limit?.seconds ?? 0 };
}

function repetitionItem({ idempotency, replayFirst = false }: StartConditions) {
  return {
    scope: idempotency?.scope ?? null,
    idem: idempotency?.key ?? null,
    hash: idempotency?.requestHash.toString("hex") ?? null,
    replay_first: replayFirst,
  };
}

function decision(limit: CountedLimit | undefined, left: RateLeft, allowed: boolean): RateDecision | null {
  if (limit === undefined || left === null) return null;
  return { allowed, limit: limit.limit, seconds: limit.seconds, ...left };
}

function rateRefusal(limit: CountedLimit | undefined, rate: RateDecision | null): AppError {
  if (limit === undefined || rate === null) throw new Error("a call without a limit was limited");
  return rateLimited(limit.name, rate);
}

function replayed({ runId, response }: Replay, rate: RateDecision | null): StartResult {
  return { runId, replay: response, rate };
}

function conflict(): AppError {
  return new AppError("idempotency_conflict", "This Idempotency-Key was used with another request.");
}

function suspended(actor: Actor): AppError {
  const message = "The organization is suspended. Runs can be read but not started.";
  return new AppError("organization_suspended", message, actor.kind === "trigger" ? { status: 400 } : {});
}

/** The run's lowest cap and whose it is, for the error message. */
function narrowestCap(target: Target, actor: Actor): Cap | null {
  const caps: { credits: Decimal | null; of: string }[] = [
    { credits: target.maxCredits, of: `the ${target.kind}'s setting` },
  ];
  if (actor.kind === "api_key") caps.push({ credits: actor.maxCredits, of: `the API key "${actor.name}"` });
  if (actor.kind === "trigger") caps.push({ credits: actor.maxCredits, of: `the trigger "${actor.name}"` });
  let narrowest: Cap | null = null;
  for (const { credits, of } of caps) {
    if (credits !== null && (narrowest === null || credits.lt(narrowest.credits)))
      narrowest = { credits, of };
  }
  return narrowest;
}

function originOf(actor: Actor): Pick<StartItem, "source" | "trigger" | "api_key" | "user"> {
  const origin = { trigger: null, api_key: null, user: null };
  switch (actor.kind) {
    case "api_key":
      return { ...origin, source: "api", api_key: actor.apiKeyId };
    case "trigger":
      return { ...origin, source: "webhook", trigger: actor.triggerId };
    case "member":
      return { ...origin, source: "dashboard", user: actor.userId };
    case "operator":
      return { ...origin, source: "operator" };
  }
}
