import { createHash } from "node:crypto";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { perOwner } from "@/server/base/per-owner";
import { recordDelivery, recordRejection, storedHeaders } from "@/server/catalog/webhooks/deliveries";
import { findTrigger } from "@/server/catalog/webhooks/find-trigger";
import { readStart } from "@/server/catalog/webhooks/read-start";
import { isSigned } from "@/server/catalog/webhooks/signature";
import type { Trigger } from "@/server/catalog/webhooks/trigger";
import type { WebhookAccepted } from "@/server/contract/shapes";
import { MAX_BODY_BYTES } from "@/server/contract/sizes";
import { createMemoryWindow, guardKey } from "@/server/guard/limits/memory-guards";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { hashRequest, parseIdempotencyKey } from "@/server/runs/idempotency";
import type { StartRequest } from "@/server/runs/prepare-start";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import { rejectStart, type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import type { Services } from "@/server/services";
import { type ApiRequest, type ApiResponse, boundBodyBytes, respondToWebRequest } from "./http/api-request";
import { clientAddress } from "./http/client-address";
import { errorResponse, jsonResponse, toAppError } from "./http/respond";

/**
 * Follows docs/contract.md ("Order of checks, endpoint 7"). Every call to an existing trigger is recorded, of a
 * flood only the first per minute (webhooks/delivery-bounds.ts).
 */

const PATH = /^\/webhooks\/([^/]+)$/;

/** Calls of one address beyond the limit are rejected unread. */
const UNKNOWN_TOKENS = { limit: 60, seconds: 60 };
/** Counts calls of one address to one token, and only protects the machine. */
const FLOOD = { limit: 300, seconds: 60 };
const FLOOD_NOTE = "Further calls from this address in the same minute are not recorded.";

const guards = perOwner(({ clock }: Services) => ({
  unknown: createMemoryWindow(UNKNOWN_TOKENS.limit, UNKNOWN_TOKENS.seconds, clock),
  flood: createMemoryWindow(FLOOD.limit, FLOOD.seconds, clock),
  /** Records the first rejected call of each caller per minute. */
  floodRecords: createMemoryWindow(1, FLOOD.seconds, clock),
}));

/** Answers a call under `/webhooks`. Never throws. */
export async function respondToWebhook(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  const headers: Record<string, string> = {};
  try {
    const trigger = await admit(services, request);
    const bytes = boundBodyBytes(request, MAX_BODY_BYTES);
    return await services.memory.answer(trigger.actor.orgId, bytes, (memory) =>
      receive(services, request, { trigger, requestId, headers, memory }),
    );
  } catch (error) {
    return errorResponse(error, request, { requestId, log: services.log, headers });
  }
}

/** Answers a Web Request under `/webhooks`, for Next's route handler. */
export function handleWebhook(services: Services, request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToWebhook(services, call));
}

async function admit(services: Services, request: ApiRequest): Promise<Trigger> {
  const token = PATH.exec(request.path)?.[1];
  if (token === undefined) throw new AppError("not_found", "There is nothing at this path.");
  const wrongMethod =
    request.method === "POST"
      ? null
      : new AppError("method_not_allowed", "This path takes POST.", { headers: { Allow: "POST" } });
  const address = guardKey(clientAddress(services.env, request));
  const { unknown, flood, floodRecords } = guards(services);
  const trigger = await findTrigger(services, token);
  if (trigger === null) {
    const tooOften = !unknown.allows(address);
    if (wrongMethod !== null) throw wrongMethod;
    if (tooOften) throw tooMany(UNKNOWN_TOKENS);
    throw new AppError("not_found", "Webhook token not found.");
  }
  const caller = createHash("sha256").update(`${address} ${token}`).digest("base64");
  const tooOften = !flood.allows(caller);
  const rejection = wrongMethod ?? (tooOften ? tooMany(FLOOD) : null);
  if (rejection === null) return trigger;
  if (!tooOften || floodRecords.allows(caller)) {
    const reason = tooOften ? `${rejection.message} ${FLOOD_NOTE}` : rejection.message;
    const delivery = unreadDelivery(request);
    const receivedAt = services.clock.now();
    await recordRejection(services, trigger.actor, { delivery, error: rejection, reason, receivedAt });
  }
  throw rejection;
}

function tooMany({ limit, seconds }: { limit: number; seconds: number }): AppError {
  return rateLimited("calls", { allowed: false, limit, seconds, remaining: 0, resetSeconds: seconds });
}

type Receipt = {
  trigger: Trigger;
  requestId: string;
  headers: Record<string, string>;
  memory: StepMemory;
};

async function receive(
  services: Services,
  request: ApiRequest,
  { trigger, requestId, headers, memory }: Receipt,
): Promise<ApiResponse> {
  const receivedAt = services.clock.now();
  const delivery = unreadDelivery(request);
  try {
    delivery.body = await request.readBody(MAX_BODY_BYTES);
    delete delivery.notStored;
    const { runId, replay, rate } = await accept(services, request, { trigger, delivery, memory });
    if (replay === null) {
      if (rate) Object.assign(headers, rateLimitHeaders("webhook", rate));
      return jsonResponse(acceptedResponse(trigger, runId), requestId, headers);
    }
    const repeated = { outcome: "repeated", runId } as const;
    await recordDelivery(services, trigger.actor, { delivery, outcome: repeated, receivedAt });
    return jsonResponse(replay, requestId, { ...headers, "Idempotent-Replayed": "true" });
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === "payload_too_large" && delivery.notStored) {
      delivery.notStored.reason = "it is larger than 1 MiB";
    }
    await recordRejection(services, trigger.actor, { delivery, error, receivedAt });
    throw thrown;
  }
}

function unreadDelivery(request: ApiRequest): ReceivedDelivery {
  const declared = Number(request.header("content-length") ?? 0);
  // Content-Length may be any number.
  const bytes = Number.isSafeInteger(declared) ? Math.min(Math.max(0, declared), 2 ** 31 - 1) : 0;
  return {
    id: newId(),
    headers: storedHeaders(request.headers()),
    body: Buffer.alloc(0),
    notStored: { bytes, reason: "the call was rejected before it was read" },
    senderId: null,
    redeliveryOf: null,
  };
}

async function accept(
  services: Services,
  request: ApiRequest,
  { trigger, delivery, memory }: { trigger: Trigger; delivery: ReceivedDelivery; memory: StepMemory },
): Promise<StartResult> {
  const { clock } = services;
  const { actor, secrets, scheme, rateLimit } = trigger;
  if (secrets === null) {
    const message = "The trigger's signing secret cannot be read. Set a new one.";
    throw new AppError("trigger_misconfigured", message);
  }
  const receivedAt = clock.now();
  const values = secrets.map(({ value }) => value);
  const isValid =
    values.length === 0 ||
    isSigned(scheme, values, { header: request.header, body: delivery.body, now: receivedAt });
  if (!isValid) throw new AppError("invalid_signature", "The signature is missing or not valid.");
  delivery.senderId = parseIdempotencyKey(senderIdOf(request, trigger));
  const { triggerId } = actor;
  const { requests: limit, seconds } = rateLimit;
  const conditions: StartConditions = {
    limit: { name: "webhook", key: `trigger:${triggerId}`, limit, seconds },
    replayFirst: true,
  };
  if (delivery.senderId !== null) {
    conditions.idempotency = {
      scope: triggerId,
      key: delivery.senderId,
      // The second body is ignored: the same id makes it a repetition.
      requestHash: hashRequest(delivery.senderId),
      answer: (runId: string) => acceptedResponse(trigger, runId),
    };
  }
  const facts = { trigger, delivery, now: receivedAt, memory };
  return start(services, request, { facts, conditions });
}

async function start(
  services: Services,
  request: ApiRequest,
  { facts, conditions }: { facts: Parameters<typeof readStart>[1]; conditions: StartConditions },
): Promise<StartResult> {
  const { delivery, now: receivedAt } = facts;
  const { actor } = facts.trigger;
  let call: StartRequest;
  try {
    const started = await readStart(request.header("content-type"), facts);
    call = { ...started, delivery: { ...delivery, receivedAt } };
  } catch (error) {
    return rejectStart(services, actor, { error, conditions });
  }
  try {
    return await startRun(services, actor, { ...call, conditions });
  } catch (error) {
    // The target was deleted after the trigger was read.
    const gone = isAppError(error) && (error.code === "not_found" || error.code === "agent_inactive");
    if (gone)
      throw new AppError("trigger_misconfigured", error.message, { cause: error, headers: error.headers });
    throw error;
  }
}

/**
 * If the signature covers `webhook-id`, no other header counts: otherwise an intercepted call could be replayed
 * with a new id.
 */
function senderIdOf(request: ApiRequest, { scheme, secrets }: Trigger): string | null {
  const signedId = scheme === "standard_webhooks" && secrets?.length !== 0;
  return (signedId ? null : request.header("idempotency-key")) ?? request.header("webhook-id");
}

function acceptedResponse(trigger: Trigger, runId: string): WebhookAccepted {
  return { success: true, runId, type: trigger.target.kind };
}
