import { createHash } from "node:crypto";
import type { RunConfiguration } from "@/server/agent/definition";
import { offeredTools } from "@/server/agent/offered-tools";
import { openingMessages } from "@/server/agent/prompts";
import { type Actor, actorReference } from "@/server/auth/actor";
import type { Decimal } from "@/server/credits/amount";
import { freezePrices, holdForFirstCall, SMALLEST_HOLD } from "@/server/credits/prices";
import { isForeignKeyViolation, isUniqueViolation } from "@/server/db/sql";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import type { JsonObject } from "@/server/json";
import { type IdempotentRequest, keepIdempotentAnswer } from "@/server/runs/idempotency";
import type { Services } from "@/server/services";
import type { ReceivedDelivery } from "@/server/webhooks/deliveries";
import { validateAgainst } from "@/server/workflow/schema";
import { findTarget, type Target } from "./find-target";

export type StartRequest = (
  | {
      kind: "agent";
      targetId: string;
      userMessage: string;
      /** The message is data from outside though no trigger starts this run: a webhook's run is run again. */
      messageFromOutside?: boolean;
    }
  | { kind: "tool"; targetId: string; input: JsonObject }
) & {
  /** Present when the caller sent an idempotency key; the answer is kept in the start's own transaction. */
  idempotency?: IdempotentRequest | undefined;
  /** The webhook call that starts the run; recorded as accepted in the start's own transaction. */
  delivery?: ReceivedDelivery | undefined;
};

/**
 * Starts a run: one committed statement inserts the Pending row with its frozen configuration and holds its
 * credits (product.md, "Credits" and "Durability promises"). The row itself is the outbox that wakes the engine.
 *
 * Throws AppError `not_found`, `agent_inactive`, `invalid_request` with issues, `insufficient_credits`,
 * `organization_suspended`, `idempotency_conflict` when another request with the same key committed first.
 */
export async function startRun(
  services: Services,
  actor: Actor,
  request: StartRequest,
): Promise<{ runId: string }> {
  const target = await findTarget(services.pool, actor.orgId, request.kind, request.targetId);
  if (target === null) {
    throw new AppError("not_found", request.kind === "agent" ? "Agent not found." : "Tool not found.");
  }
  const runId = newId();
  const prepared = await prepare(services, actor, target, request);
  const commit = async (hold: Decimal): Promise<boolean> => {
    const tryOnce = () => commitStart(services, actor, runId, target, prepared, hold, request);
    return tryOnce().catch((error: unknown) => {
      // Retention removed the long unused configuration between two looks at it: now it is written anew.
      if (isForeignKeyViolation(error, "runs_organization_id_configuration_hash_fkey")) return tryOnce();
      throw error;
    });
  };
  let committed = await commit(prepared.hold);
  if (!committed) {
    // The bound is quick and good enough to hold; only what it would refuse is worth a count.
    const counted = await prepared.countHold();
    committed = counted.lt(prepared.hold) && (await commit(counted));
  }
  if (!committed) throw await whyRefused(services, actor);
  services.engine.ring();
  return { runId };
}

type Prepared = {
  configuration: RunConfiguration;
  input: string;
  model: string | null;
  /** What the start holds, made of a bound of the prompt's tokens. */
  hold: Decimal;
  /** The same, made of the counted prompt. */
  countHold: () => Promise<Decimal>;
};

async function prepare(
  services: Services,
  actor: Actor,
  target: Target,
  request: StartRequest,
): Promise<Prepared> {
  if (target.kind === "agent" && request.kind === "agent") {
    if (!target.active) throw new AppError("agent_inactive", "The agent is inactive.");
    const configuration = {
      ...target.configuration,
      messageFromOutside: actor.kind === "trigger" || request.messageFromOutside === true,
    };
    const prompt = {
      messages: openingMessages(configuration, request.userMessage),
      tools: offeredTools(configuration.callables),
    };
    const { models, prices } = services;
    const holdFor = (tokens: number) => holdForFirstCall(prices, configuration.model, tokens);
    return {
      configuration,
      input: request.userMessage,
      model: configuration.model,
      hold: holdFor(models.boundTokens(prompt)),
      countHold: async () => holdFor(await models.countTokens(prompt)),
    };
  }
  if (target.kind === "tool" && request.kind === "tool") {
    const { parameters } = target.configuration.definition;
    const issues = await validateAgainst(parameters, request.input, actor.orgId);
    if (issues.length > 0) {
      throw new AppError("invalid_request", "The input does not match the tool's parameters.", { issues });
    }
    return {
      configuration: target.configuration,
      input: JSON.stringify(request.input),
      model: null,
      hold: SMALLEST_HOLD,
      countHold: async () => SMALLEST_HOLD,
    };
  }
  throw new Error("target and request are of different kinds");
}

const START = {
  name: "start-run",
  text: `
  WITH charged AS (
    UPDATE organizations
    SET balance = balance - $2::numeric, ledger_sequence = ledger_sequence + 1, updated_at = $3::timestamptz
    WHERE id = $1::uuid AND balance >= $2::numeric AND suspended_at IS NULL
    RETURNING balance, ledger_sequence
  ), configured AS (
    INSERT INTO configurations (organization_id, hash, document, created_at)
    SELECT $1::uuid, $5::bytea, $6, $3::timestamptz FROM charged
    ON CONFLICT (organization_id, hash) DO NOTHING
  ), started AS (
    INSERT INTO runs
      (id, organization_id, kind, agent_id, tool_id, target_name, target_version, model, configuration_hash,
       source, trigger_id, api_key_id, user_id, root_run_id, input, held, max_credits, created_at, deadline_seconds, max_credits_of)
    SELECT $4::uuid, $1::uuid, $7::run_kind, $8, $9, $10, $11, $12, $5::bytea,
           $13::run_source, $14::uuid, $15, $16, $4::uuid, $17, $2::numeric, $18::numeric, $3::timestamptz, $19, $31
    FROM charged
  ), entry AS (
    INSERT INTO credit_entries
      (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
    SELECT $1::uuid, ledger_sequence, 'hold', -($2::numeric), balance + $2::numeric, balance, $4::uuid, 'run started', $20, $3::timestamptz
    FROM charged
  ), kept AS (
    INSERT INTO idempotency_keys (organization_id, scope, key, request_hash, run_id, response, created_at, expires_at)
    SELECT $1::uuid, $21, $22::text, $23, $4::uuid, $24, $3::timestamptz, $25 FROM charged WHERE $22::text IS NOT NULL
  ), delivered AS (
    INSERT INTO deliveries (id, organization_id, trigger_id, received_at, outcome, status, headers, body, body_bytes,
                            sender_id, redelivery_of, run_id)
    SELECT $26::uuid, $1::uuid, $14::uuid, $3::timestamptz, 'accepted', 200, $27, $28::bytea, octet_length($28::bytea), $29, $30, $4::uuid
    FROM charged WHERE $26::uuid IS NOT NULL
  )
  SELECT balance FROM charged`,
};

/** Commits the start; false when the balance does not cover the hold, or the organization is suspended. */
async function commitStart(
  services: Services,
  actor: Actor,
  runId: string,
  target: Target,
  prepared: Prepared,
  hold: Decimal,
  request: StartRequest,
): Promise<boolean> {
  const now = services.clock.now();
  const document = JSON.stringify({ ...prepared.configuration, prices: freezePrices(services.prices) });
  const origin = originOf(actor);
  const cap = narrowestCap(target, actor);
  const { delivery } = request;
  const kept =
    request.idempotency === undefined ? undefined : keepIdempotentAnswer(request.idempotency, runId, now);
  const values = [
    actor.orgId,
    hold.toFixed(4),
    now,
    runId,
    createHash("sha256").update(document).digest(),
    document,
    target.kind,
    target.kind === "agent" ? target.id : null,
    target.kind === "tool" ? target.id : null,
    target.name,
    target.version,
    prepared.model,
    origin.source,
    origin.triggerId,
    origin.apiKeyId,
    origin.userId,
    prepared.input,
    cap?.credits.toFixed(4) ?? null,
    target.deadlineSeconds,
    actorReference(actor),
    kept?.scope ?? null,
    kept?.key ?? null,
    kept?.requestHash ?? null,
    kept?.response ?? null,
    kept?.expiresAt ?? null,
    delivery?.id ?? null,
    delivery?.headers ?? null,
    delivery?.body ?? null,
    delivery?.senderId ?? null,
    delivery?.redeliveryOf ?? null,
    cap?.of ?? null,
  ];
  try {
    const result = await services.pool.query({ ...START, values });
    return result.rows.length === 1;
  } catch (cause) {
    if (!isUniqueViolation(cause, "idempotency_keys_pkey")) throw cause;
    throw new AppError("idempotency_conflict", "A request with this Idempotency-Key was started just now.", {
      cause,
    });
  }
}

async function whyRefused(services: Services, actor: Actor): Promise<AppError> {
  const { suspendedAt } = await services.db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    select: { suspendedAt: true },
  });
  if (suspendedAt === null) return new AppError("insufficient_credits", "Insufficient credits.");
  const message = "The organization is suspended: runs can be read, not started.";
  return new AppError("organization_suspended", message, actor.kind === "trigger" ? { status: 400 } : {});
}

/** The narrowest cap of the run and whose it is, in words for the run's error message. */
function narrowestCap(target: Target, actor: Actor): { credits: Decimal; of: string } | null {
  const caps: { credits: Decimal | null; of: string }[] = [
    { credits: target.maxCredits, of: `the ${target.kind}'s setting` },
  ];
  if (actor.kind === "api_key") caps.push({ credits: actor.maxCredits, of: `the API key "${actor.name}"` });
  if (actor.kind === "trigger") caps.push({ credits: actor.maxCredits, of: `the trigger "${actor.name}"` });
  let narrowest: { credits: Decimal; of: string } | null = null;
  for (const { credits, of } of caps) {
    if (credits !== null && (narrowest === null || credits.lt(narrowest.credits)))
      narrowest = { credits, of };
  }
  return narrowest;
}

function originOf(actor: Actor) {
  const origin = {
    triggerId: null as string | null,
    apiKeyId: null as string | null,
    userId: null as string | null,
  };
  switch (actor.kind) {
    case "api_key":
      return { ...origin, source: "api", apiKeyId: actor.apiKeyId };
    case "trigger":
      return { ...origin, source: "webhook", triggerId: actor.triggerId };
    case "member":
      return { ...origin, source: "dashboard", userId: actor.userId };
    case "operator":
      return { ...origin, source: "operator" };
  }
}
