import { type Actor, actorReference } from "@/server/base/actor";
import type { Decimal } from "@/server/base/amount";
import type { CountedLimit } from "@/server/guard/limits/rate-limit";
import type { Services } from "@/server/runs/services";
import { type Cap, type ClaimedRun, capColumns, capOfTarget, FIRST_CLAIM } from "./engine/claimed-run";
import type { CountedCall, StartItem } from "./engine/write/flush-items";
import { bytesTakenOver } from "./fork/cut";
import type { IdempotentRequest } from "./idempotency";
import type { PreparedStart, StartRequest } from "./prepare-start";
import type { StartOptions } from "./start-options";
import { type Target, targetColumns } from "./target";

/** The limit of a start and the start that it may repeat, both decided in the start's transaction. */
export type StartConditions = {
  limit?: CountedLimit | undefined;
  idempotency?: IdempotentRequest | undefined;
  /** A webhook's repetition is checked before its rate limit, an API call's after. */
  replayFirst?: boolean;
};

export type Start = {
  actor: Actor;
  request: StartRequest;
  conditions: StartConditions;
  prepared: PreparedStart;
  runId: string;
  /** Of a fork: `describeTakeOver`. */
  takeOver?: string | undefined;
};

const SOURCES = {
  api_key: "api",
  trigger: "webhook",
  schedule: "schedule",
  member: "dashboard",
  operator: "operator",
} as const;

export function sourceOf({ actor, request }: Pick<Start, "actor" | "request">): StartItem["source"] {
  return request.draft ? "draft" : SOURCES[actor.kind];
}

export function startItem({ actor, request, conditions, prepared, runId, takeOver }: Start): StartItem {
  const { target, hash, input, hold, headroom } = prepared;
  return {
    id: runId,
    ...countedCall(actor, conditions),
    response: conditions.idempotency ? JSON.stringify(conditions.idempotency.answer(runId)) : null,
    ...targetColumns(target),
    configuration: hash,
    document: null,
    source: sourceOf({ actor, request }),
    trigger: actor.kind === "trigger" ? actor.triggerId : null,
    schedule: actor.kind === "schedule" ? actor.scheduleId : null,
    api_key: actor.kind === "api_key" ? actor.apiKeyId : null,
    user: actor.kind === "member" ? actor.userId : null,
    input,
    hold: hold.toFixed(4),
    headroom: headroom.toFixed(4),
    ...capColumns(narrowestCap({ target, actor, request })),
    deadline: deadlineOf(target, request),
    actor: actorReference(actor),
    ...(request.options && optionColumns(request.options)),
    ...(takeOver !== undefined && { fork: takeOver }),
    delivery: request.delivery ? deliveryItem(request.delivery) : null,
  };
}

/** The run as the engine executes it here, without reading its row. */
export function claimedRun(
  services: Services,
  parts: Start,
  { at, held }: { at: Date; held: Decimal },
): ClaimedRun {
  const { actor, request, prepared, runId } = parts;
  const { target, configuration, input } = prepared;
  const deadlineSeconds = deadlineOf(target, request);
  return {
    ...FIRST_CLAIM,
    id: runId,
    orgId: actor.orgId,
    kind: target.kind,
    source: sourceOf(parts),
    targetId: target.id,
    configuration,
    configurationHash: prepared.hash,
    prices: services.prices,
    input,
    rootRunId: runId,
    traceParent: request.options?.traceParent ?? null,
    createdAt: at,
    startedAt: at,
    deadlineSeconds,
    endsAtMs: services.clock.monotonicMs() + deadlineSeconds * 1000,
    cap: narrowestCap({ target, actor, request }),
    held,
    ...(request.fork && { storedBytes: bytesTakenOver(request.fork.cut) }),
  };
}

function deliveryItem(delivery: NonNullable<StartRequest["delivery"]>): StartItem["delivery"] {
  return {
    id: delivery.id,
    received_at: delivery.receivedAt.toISOString(),
    headers: delivery.headers,
    body: delivery.body.toString("base64"),
    sender: delivery.senderId,
    redelivery_of: delivery.redeliveryOf,
  };
}

/** The count of a call, whether it starts a run or is rejected. */
export function countedCall(
  { orgId }: Actor,
  { limit, idempotency, replayFirst = false }: StartConditions,
): CountedCall {
  return {
    org: orgId,
    rate_key: limit?.key ?? null,
    // Without a limit its figures are not read.
    rate_limit: limit?.limit ?? 0,
    rate_seconds: limit?.seconds ?? 0,
    scope: idempotency?.scope ?? null,
    idem: idempotency?.key ?? null,
    hash: idempotency?.requestHash.toString("hex") ?? null,
    replay_first: replayFirst,
  };
}

function optionColumns({
  metadata,
  callbackUrl,
  traceParent,
}: StartOptions): Pick<StartItem, "metadata" | "callback_url" | "trace_parent"> {
  return {
    ...(metadata === undefined ? {} : { metadata }),
    ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
    ...(traceParent === undefined ? {} : { trace_parent: traceParent }),
  };
}

function deadlineOf({ deadlineSeconds }: Target, { options }: StartRequest): number {
  return Math.min(deadlineSeconds, options?.deadlineSeconds ?? deadlineSeconds);
}

/** The lowest limit that applies to the run's credits. */
export function narrowestCap({
  target: { kind, maxCredits },
  actor,
  request: { options },
}: Pick<Start, "actor"> & { target: Target; request: Pick<StartRequest, "options"> }): Cap | null {
  const ofStart = options?.maxCredits && { credits: options.maxCredits, of: "the start" };
  return lower(lower(capOfTarget(kind, maxCredits), capOfActor(actor)), ofStart ?? null);
}

const lower = (a: Cap | null, b: Cap | null) => (a === null || b?.credits.lt(a.credits) ? b : a);

function capOfActor(actor: Actor): Cap | null {
  if ((actor.kind !== "api_key" && actor.kind !== "trigger") || actor.maxCredits === null) return null;
  const of = actor.kind === "api_key" ? `the API key "${actor.name}"` : `the trigger "${actor.name}"`;
  return { credits: actor.maxCredits, of };
}
