import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { perOwner } from "@/server/base/per-owner";
import { sha256 } from "@/server/base/sha256";
import { recordDelivery, recordRejection, storedHeaders } from "@/server/catalog/webhooks/deliveries";
import { findTrigger } from "@/server/catalog/webhooks/find-trigger";
import { mediaTypeOf } from "@/server/catalog/webhooks/senders/call-body";
import { answerVerification } from "@/server/catalog/webhooks/senders/verification";
import type { Trigger } from "@/server/catalog/webhooks/trigger";
import type { WebhookFiltered } from "@/server/contract/shapes";
import { formatLimit } from "@/server/contract/sizes";
import { tokenIn, WEBHOOK } from "@/server/contract/webhook";
import { createMemoryWindow, guardKey } from "@/server/guard/limits/memory-guards";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import type { Services } from "@/server/services";
import { acceptCall, acceptedResponse } from "./accept-webhook";
import { type ApiRequest, type ApiResponse, boundBodyBytes, respondToWebRequest } from "./http/api-request";
import { clientAddress } from "./http/client-address";
import { errorResponse, jsonResponse, toAppError } from "./http/respond";

/**
 * Follows docs/contract.md ("Order of checks, endpoint 7"). Every call to an existing trigger is recorded, of a
 * flood only the first per minute (webhooks/delivery-bounds.ts).
 */

const { flood: FLOOD, maxBodyBytes, unknownTokens: UNKNOWN_TOKENS } = WEBHOOK;
const FLOOD_NOTE = "Further calls from this address in the same minute are not recorded.";

const guards = perOwner(({ clock }: Pick<Services, "clock">) => ({
  unknown: createMemoryWindow(UNKNOWN_TOKENS.limit, UNKNOWN_TOKENS.seconds, clock),
  flood: createMemoryWindow(FLOOD.limit, FLOOD.seconds, clock),
  floodRecords: createMemoryWindow(1, FLOOD.seconds, clock),
}));

/** Answers a call under `/webhooks`. Never throws. */
export async function respondToWebhook(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  const headers: Record<string, string> = {};
  try {
    const trigger = await admit(services, request);
    if (request.method !== WEBHOOK.method)
      return await verifyAddress(services, request, { trigger, requestId });
    const { orgId, triggerId } = trigger.actor;
    const body = { bytes: boundBodyBytes(request, maxBodyBytes), from: request, webhook: triggerId };
    return await services.memory.answer(orgId, body, (memory) =>
      receive(services, request, { trigger, requestId, headers, memory }),
    );
  } catch (error) {
    return errorResponse(error, request, { requestId, services, headers });
  }
}

/** Answers a Web Request under `/webhooks`, for Next's route handler. */
export function handleWebhook(services: Services, request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToWebhook(services, call));
}

/** Throws `not_found` if the trigger was archived, or got another token, since the call was admitted. */
async function requireTrigger(services: Services, request: ApiRequest): Promise<Trigger> {
  const address = guardKey(clientAddress(services.env, request));
  const trigger = await findTrigger(services, tokenIn(request.path) ?? "", address);
  if (trigger === null) throw unknownToken();
  return trigger;
}

const unknownToken = () => new AppError("not_found", "Webhook token not found.");

async function admit(services: Services, request: ApiRequest): Promise<Trigger> {
  const token = tokenIn(request.path);
  if (token === null) throw new AppError("not_found", "There is nothing at this path.");
  const { method } = WEBHOOK;
  const isOther = request.method !== method;
  const wrongMethod = isOther
    ? new AppError("method_not_allowed", `This path takes ${method}.`, { headers: { Allow: method } })
    : null;
  const address = guardKey(clientAddress(services.env, request));
  const { unknown, flood, floodRecords } = guards(services);
  const trigger = await findTrigger(services, token, address);
  if (trigger === null) {
    const tooOften = !unknown.allows(address);
    if (wrongMethod !== null) throw wrongMethod;
    if (tooOften) throw tooMany(UNKNOWN_TOKENS);
    throw unknownToken();
  }
  const caller = sha256(`${address} ${token}`).toString("base64");
  const floodLimit = floodLimitOf(trigger);
  const tooOften = !flood.allows(caller, floodLimit);
  const isVerification = trigger.sender.verification?.method === request.method;
  const rejection =
    (isVerification ? null : wrongMethod) ?? (tooOften ? tooMany({ ...FLOOD, limit: floodLimit }) : null);
  if (rejection === null) return trigger;
  if (!tooOften || floodRecords.allows(caller)) {
    const reason = tooOften ? `${rejection.message} ${FLOOD_NOTE}` : rejection.message;
    const delivery = unreadDelivery(request, trigger);
    const receivedAt = services.clock.now();
    await recordRejection(services, trigger.actor, { delivery, error: rejection, reason, receivedAt });
  }
  throw rejection;
}

// The guard must not reject what the trigger accepts.
function floodLimitOf({ rateLimit: { requests, seconds } }: Trigger): number {
  const accepted = requests * Math.max(1, Math.ceil(FLOOD.seconds / seconds));
  return Math.min(FLOOD.most, Math.max(FLOOD.limit, accepted));
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

/** Answers a GET or HEAD request with which the sender checks the address. Throws `invalid_request`. */
async function verifyAddress(
  services: Pick<Services, "clock" | "pool">,
  request: ApiRequest,
  { trigger, requestId }: Pick<Receipt, "trigger" | "requestId">,
): Promise<ApiResponse> {
  const delivery = { ...unreadDelivery(request, trigger), notStored: { bytes: 0, reason: "there was none" } };
  const receivedAt = services.clock.now();
  try {
    const answer = answerVerification(trigger.sender, request);
    const outcome = { outcome: "filtered", reason: `${trigger.sender.title} checked the address.` } as const;
    await recordDelivery(services, trigger.actor, { delivery, outcome, receivedAt });
    return textResponse(answer, requestId);
  } catch (thrown) {
    await recordRejection(services, trigger.actor, { delivery, error: toAppError(thrown), receivedAt });
    throw thrown;
  }
}

async function receive(
  services: Services,
  request: ApiRequest,
  { trigger: admitted, requestId, headers, memory }: Receipt,
): Promise<ApiResponse> {
  const receivedAt = services.clock.now();
  const delivery = unreadDelivery(request, admitted);
  const record = (outcome: Parameters<typeof recordDelivery>[2]["outcome"]) =>
    recordDelivery(services, admitted.actor, { delivery, outcome, receivedAt });
  try {
    delivery.body = await request.readBody(maxBodyBytes);
    delete delivery.notStored;
    // The trigger may have changed while the body came.
    const trigger = await requireTrigger(services, request);
    const result = await acceptCall(services, request, { trigger, delivery, memory });
    if (result.kind === "checked") {
      await record({ outcome: "filtered", reason: `${trigger.sender.title} checked the address.` });
      return textResponse(result.answer, requestId);
    }
    const special = trigger.sender.answers?.[mediaTypeOf(request.header("content-type"))];
    const answer = (body: object | string, extra: Record<string, string> = {}) =>
      special
        ? textResponse(special, requestId, { ...headers, ...extra })
        : jsonResponse(body, requestId, { ...headers, ...extra });
    if (result.kind === "filtered") {
      await record({ outcome: "filtered", reason: null });
      return answer(filteredResponse(trigger));
    }
    const { runId, replay, rate } = result.started;
    if (replay === null) {
      if (rate) Object.assign(headers, rateLimitHeaders("webhook", rate));
      return answer(acceptedResponse(trigger, runId));
    }
    await record({ outcome: "repeated", runId });
    return answer(replay, { "Idempotent-Replayed": "true" });
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === "payload_too_large" && delivery.notStored) {
      delivery.notStored.reason = `it is larger than ${formatLimit(maxBodyBytes)}`;
    }
    await recordRejection(services, admitted.actor, { delivery, error, receivedAt });
    throw thrown;
  }
}

function unreadDelivery(request: ApiRequest, { sender }: Trigger): ReceivedDelivery {
  const declared = Number(request.header("content-length") ?? 0);
  // Content-Length may be any number.
  const bytes = Number.isSafeInteger(declared) ? Math.min(Math.max(0, declared), 2 ** 31 - 1) : 0;
  return {
    id: newId(),
    headers: storedHeaders(request.headers(), sender.rule.header),
    body: Buffer.alloc(0),
    notStored: { bytes, reason: "the call was rejected before it was read" },
    senderId: null,
    redeliveryOf: null,
  };
}

function textResponse(
  { contentType, body }: { contentType: string; body: string },
  requestId: string,
  headers: Record<string, string> = {},
): ApiResponse {
  const { status, headers: common } = jsonResponse("", requestId, headers);
  return {
    status,
    headers: { ...common, "Content-Type": contentType, "X-Content-Type-Options": "nosniff" },
    body,
  };
}

function filteredResponse({ target }: Trigger): WebhookFiltered {
  return { success: false, runId: null, type: target.kind };
}
