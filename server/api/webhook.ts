import { createHash } from "node:crypto";
import type { WebhookAccepted } from "@/server/contract/shapes";
import { AppError, isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { createMemoryWindow, type MemoryWindow } from "@/server/limits/memory-window";
import {
  type RateDecision,
  rateLimited,
  rateLimitHeaders,
  takeFromWindow,
} from "@/server/limits/rate-window";
import { readBody } from "@/server/limits/read-body";
import { MAX_BODY_BYTES } from "@/server/limits/sizes";
import { hashRequest, onceOnly, parseIdempotencyKey } from "@/server/runs/idempotency";
import { type StartRequest, startRun } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { keptHeaders, type ReceivedDelivery, recordDelivery } from "@/server/webhooks/deliveries";
import { findTrigger, type Trigger } from "@/server/webhooks/find-trigger";
import { readStart } from "@/server/webhooks/read-start";
import { isSigned } from "@/server/webhooks/signature";
import { clientAddress, guardKey } from "./client-address";
import { errorResponse, jsonResponse, toAppError } from "./respond";

/**
 * The door of endpoint 7, in the order of checks of product.md ("Order of checks, 7"). Every call to an existing
 * trigger leaves a delivery, rejected ones with their reason.
 */

const PATH = /^\/webhooks\/([^/]+)$/;

/** Calls to unknown tokens that one address may make; more are refused unread. */
const UNKNOWN_TOKENS = { limit: 60, seconds: 60 };
/** Calls of one address to one token; only protects the machine. */
const FLOOD = { limit: 300, seconds: 60 };

/** Large bodies of refused calls that are kept for one trigger; of more only the facts are, so that forgers cannot fill the disk. */
const REFUSED_BODIES = { limit: 60, seconds: 60, smallBytes: 4096 };

type Guards = { unknown: MemoryWindow; flood: MemoryWindow; refusedBodies: MemoryWindow };
const guardsOf = new WeakMap<Services, Guards>();

function guards(services: Services): Guards {
  let known = guardsOf.get(services);
  if (known === undefined) {
    known = {
      unknown: createMemoryWindow(UNKNOWN_TOKENS.limit, UNKNOWN_TOKENS.seconds, services.clock),
      flood: createMemoryWindow(FLOOD.limit, FLOOD.seconds, services.clock),
      refusedBodies: createMemoryWindow(REFUSED_BODIES.limit, REFUSED_BODIES.seconds, services.clock),
    };
    guardsOf.set(services, known);
  }
  return known;
}

/** Answers a request under `/webhooks`. Never throws. */
export async function handleWebhook(services: Services, request: Request): Promise<Response> {
  const requestId = newId();
  const headers: Record<string, string> = {};
  try {
    const trigger = await admit(services, request);
    return await receive(services, request, trigger, requestId, headers);
  } catch (error) {
    return errorResponse(error, request, requestId, services.log, headers);
  }
}

/** Path, method, token and flood guard: what is refused here leaves no delivery. */
async function admit(services: Services, request: Request): Promise<Trigger> {
  const token = PATH.exec(new URL(request.url).pathname)?.[1];
  if (token === undefined) throw new AppError("not_found", "There is nothing at this path.");
  if (request.method !== "POST") {
    throw new AppError("method_not_allowed", "This path takes POST.", { headers: { Allow: "POST" } });
  }
  const address = guardKey(clientAddress(services.env, request.headers));
  const { unknown, flood } = guards(services);
  const trigger = await findTrigger(services, token);
  if (trigger === null) {
    if (!unknown.allows(address)) throw tooMany(UNKNOWN_TOKENS);
    throw new AppError("not_found", "Webhook token not found.");
  }
  const caller = createHash("sha256").update(`${address} ${token}`).digest("base64");
  if (!flood.allows(caller)) throw tooMany(FLOOD);
  return trigger;
}

function tooMany({ limit, seconds }: { limit: number; seconds: number }): AppError {
  const decision: RateDecision = { allowed: false, limit, seconds, remaining: 0, resetSeconds: seconds };
  return rateLimited("calls", decision);
}

async function receive(
  services: Services,
  request: Request,
  trigger: Trigger,
  requestId: string,
  headers: Record<string, string>,
): Promise<Response> {
  const receivedAt = services.clock.now();
  const delivery: ReceivedDelivery = {
    id: newId(),
    headers: keptHeaders(request.headers),
    body: Buffer.alloc(0),
    senderId: null,
    redeliveryOf: null,
  };
  try {
    delivery.body = await readBody(request, MAX_BODY_BYTES);
    const answered = await accept(services, request, trigger, delivery, headers);
    if ("fresh" in answered) return jsonResponse(answered.fresh, requestId, headers);
    const repeated = { outcome: "repeated", runId: answered.kept.runId } as const;
    await recordDelivery(services.pool, trigger.actor, delivery, repeated, receivedAt);
    return jsonResponse(answered.kept.response, requestId, { ...headers, "Idempotent-Replayed": "true" });
  } catch (thrown) {
    const { code, status, message: reason } = toAppError(thrown);
    const rejected = { outcome: "rejected", code, status, reason } as const;
    const { refusedBodies } = guards(services);
    if (delivery.body.length > REFUSED_BODIES.smallBytes && !refusedBodies.allows(trigger.actor.triggerId)) {
      delivery.bodyBytes = delivery.body.length;
      delivery.body = Buffer.alloc(0);
    }
    await recordDelivery(services.pool, trigger.actor, delivery, rejected, receivedAt);
    throw thrown;
  }
}

async function accept(
  services: Services,
  request: Request,
  trigger: Trigger,
  delivery: ReceivedDelivery,
  headers: Record<string, string>,
) {
  const { clock, pool } = services;
  const { secrets, scheme } = trigger;
  if (secrets.length > 0 && !isSigned(scheme, secrets, request.headers, delivery.body, clock.now())) {
    throw new AppError("invalid_signature", "The signature is missing or not valid.");
  }
  const start = async (idempotency?: StartRequest["idempotency"]): Promise<WebhookAccepted> => {
    const window = {
      key: `trigger:${trigger.actor.triggerId}`,
      limit: trigger.rateLimit.requests,
      seconds: trigger.rateLimit.seconds,
    };
    const decision = await takeFromWindow(pool, window, clock);
    if (!decision.allowed) throw rateLimited("webhook", decision);
    Object.assign(headers, rateLimitHeaders("webhook", decision));
    const started = readStart(request.headers.get("content-type"), trigger, delivery, clock.now());
    try {
      const { runId } = await startRun(services, trigger.actor, { ...started, idempotency, delivery });
      return acceptedAnswer(trigger, runId);
    } catch (error) {
      // The target went away between the two looks at it.
      const gone = isAppError(error) && (error.code === "not_found" || error.code === "agent_inactive");
      if (gone) throw new AppError("trigger_misconfigured", error.message, { cause: error });
      throw error;
    }
  };

  delivery.senderId = parseIdempotencyKey(senderIdOf(request.headers, trigger));
  if (delivery.senderId === null) return { fresh: await start() };
  const idempotency = {
    scope: trigger.actor.triggerId,
    key: delivery.senderId,
    requestHash: hashRequest(delivery.body),
    answer: (runId: string) => acceptedAnswer(trigger, runId),
  };
  return onceOnly(
    pool,
    trigger.actor.orgId,
    idempotency,
    () => clock.now(),
    () => start(idempotency),
  );
}

/**
 * The sender's own id of the call. Where the signature covers `webhook-id`, no other header counts: a call that was
 * overheard could else be sent again under a new id.
 */
function senderIdOf(headers: Headers, { scheme, secrets }: Trigger): string | null {
  const signedId = scheme === "standard_webhooks" && secrets.length > 0;
  return (signedId ? null : headers.get("idempotency-key")) ?? headers.get("webhook-id");
}

function acceptedAnswer(trigger: Trigger, runId: string): WebhookAccepted {
  return { success: true, runId, type: trigger.target.kind };
}
