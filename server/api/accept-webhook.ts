import { AppError, isAppError } from "@/server/base/errors";
import { passesFilter } from "@/server/catalog/webhooks/filter";
import { readStart, requireUsable } from "@/server/catalog/webhooks/read-start";
import { readCallBody } from "@/server/catalog/webhooks/senders/call-body";
import { eventIdInBody, eventIdInHeaders } from "@/server/catalog/webhooks/senders/event-id";
import { explainSignature } from "@/server/catalog/webhooks/senders/signature-check";
import { isSigned, type SignedCall } from "@/server/catalog/webhooks/senders/signed-call";
import {
  answerChallenge,
  answerFormCheck,
  type VerificationAnswer,
} from "@/server/catalog/webhooks/senders/verification";
import type { Trigger } from "@/server/catalog/webhooks/trigger";
import type { WebhookAccepted } from "@/server/contract/shapes";
import { tokenIn } from "@/server/contract/webhook";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { hashRequest, parseIdempotencyKey } from "@/server/runs/idempotency";
import type { StartRequest } from "@/server/runs/prepare-start";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import { rejectStart, type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import type { Services } from "@/server/services";
import type { ApiRequest } from "./http/api-request";
import { readTraceParent } from "./v1/start-headers";

type Call = { trigger: Trigger; delivery: ReceivedDelivery; conditions: StartConditions; now: Date };

/** `checked`: the sender checked the address. */
type Accepted =
  | { kind: "checked"; answer: VerificationAnswer }
  | { kind: "filtered" }
  | { kind: "started"; started: StartResult };

/**
 * Verifies a call that was read, and starts its run. `delivery` gets the sender's id and what the signature was
 * checked against. Throws the errors of docs/contract.md, "Order of checks, endpoint 7".
 */
export async function acceptCall(
  services: Services,
  request: ApiRequest,
  { trigger, delivery, memory }: { trigger: Trigger; delivery: ReceivedDelivery; memory: StepMemory },
): Promise<Accepted> {
  const { sender, rateLimit, actor } = trigger;
  const now = services.clock.now();
  const contentType = request.header("content-type");
  const answer = answerFormCheck(sender, { body: delivery.body, contentType });
  if (answer !== null) return { kind: "checked", answer };
  checkSignature(services, request, { trigger, delivery, now });
  const { requests: limit, seconds } = rateLimit;
  // A changed window starts a new count: of the previous one, older calls are no longer known.
  const key = `trigger:${actor.triggerId}:${seconds}`;
  const conditions: StartConditions = {
    limit: { name: "webhook", key, limit, seconds },
    replayFirst: true,
  };
  const call = { trigger, delivery, conditions, now };
  const isVerified = trigger.secrets?.length !== 0;
  let read: StartRequest | Accepted;
  try {
    identify(call, eventIdInHeaders(sender, { isSigned: isVerified, header: request.header }));
    read = await readCall(services, request, { ...call, memory });
  } catch (error) {
    return { kind: "started", started: await rejectStart(services, actor, { error, conditions }) };
  }
  if ("targetId" in read)
    return { kind: "started", started: await start(services, { ...call, header: request.header }, read) };
  return read;
}

/** Throws `invalid_signature`; `delivery` then says what was checked. */
function checkSignature(
  { env }: Pick<Services, "env">,
  request: ApiRequest,
  { trigger, delivery, now }: Pick<Call, "trigger" | "delivery" | "now">,
): void {
  const { secrets, sender } = trigger;
  if (secrets === null) {
    const message = "The trigger's signing secret cannot be read. Set a new one.";
    throw new AppError("trigger_misconfigured", message);
  }
  const values = secrets.map(({ value }) => value);
  const url = `${env.appUrl}${request.path}${request.query === "" ? "" : `?${request.query}`}`;
  const call: SignedCall = { header: request.header, body: delivery.body, url, now };
  if (values.length === 0 || isSigned(sender.rule, values, call)) return;
  const token = tokenIn(request.path) ?? "";
  delivery.signatureCheck = JSON.stringify(explainSignature(sender, { secrets: values, call, token }));
  throw new AppError("invalid_signature", "The signature is missing or not valid.");
}

/** Throws `invalid_request` if the id has the wrong format. */
function identify({ trigger, delivery, conditions }: Call, id: string | null): void {
  delivery.senderId = parseIdempotencyKey(id);
  if (delivery.senderId === null) return;
  conditions.idempotency = {
    scope: trigger.actor.triggerId,
    key: delivery.senderId,
    // The second body is ignored: the same id makes it a repetition.
    requestHash: hashRequest(delivery.senderId),
    answer: (runId: string) => acceptedResponse(trigger, runId),
  };
}

async function readCall(
  services: Services,
  request: ApiRequest,
  { memory, ...call }: Call & { memory: StepMemory },
): Promise<StartRequest | Accepted> {
  const { trigger, delivery, now } = call;
  const { sender, filter, actor } = trigger;
  const contentType = request.header("content-type");
  const body = await readCallBody(delivery.body, { bodies: sender.bodies, contentType, memory });
  const answer = answerChallenge(sender, body.json);
  if (answer !== null) return { kind: "checked", answer };
  if (delivery.senderId === null) identify(call, eventIdInBody(sender, body.json, request.header));
  requireUsable(trigger);
  const ms = sender.answerWithinMs;
  const signal = ms === undefined ? undefined : AbortSignal.timeout(ms);
  const seed = delivery.id;
  if (filter !== null) {
    const facts = { now, seed, organizationId: actor.orgId, signal };
    if (!(await passesFilter(filter, body.json, facts))) return filtered(services, call);
  }
  return readStart(body, { trigger, seed, now, signal });
}

const FILTERED = new Error("The trigger's filter rejects the call.");

/** A repetition gets the first answer, also if the filter has changed. Filtered calls do not count. */
async function filtered(services: Services, { trigger, conditions }: Call): Promise<Accepted> {
  const { limit: _, ...uncounted } = conditions;
  try {
    const repeated = { error: FILTERED, conditions: uncounted };
    return { kind: "started", started: await rejectStart(services, trigger.actor, repeated) };
  } catch (error) {
    if (error === FILTERED) return { kind: "filtered" };
    throw error;
  }
}

async function start(
  services: Services,
  { trigger, delivery, conditions, now, header }: Call & Pick<ApiRequest, "header">,
  request: StartRequest,
): Promise<StartResult> {
  try {
    const received = { ...delivery, receivedAt: now };
    const options = services.env.traces && { traceParent: readTraceParent(header) };
    return await startRun(services, trigger.actor, { ...request, options, delivery: received, conditions });
  } catch (error) {
    // The target was deleted after the trigger was read.
    const gone = isAppError(error) && (error.code === "not_found" || error.code === "agent_inactive");
    if (gone)
      throw new AppError("trigger_misconfigured", error.message, { cause: error, headers: error.headers });
    throw error;
  }
}

export function acceptedResponse(trigger: Trigger, runId: string): WebhookAccepted {
  return { success: true, runId, type: trigger.target.kind };
}
