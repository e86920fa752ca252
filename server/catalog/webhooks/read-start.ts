import { AppError } from "@/server/base/errors";
import { decodeText, parseBodyText, rejectInvalidText, requireJson } from "@/server/base/json/body";
import { isJsonObject } from "@/server/base/json/json";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { StartRequest } from "@/server/runs/prepare-start";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";

import { fillMessageTemplate } from "./message-template";
import type { Trigger } from "./trigger";

/**
 * Reads the start of a webhook call. An agent gets the body's text, byte for byte, or its template's message; a
 * tool gets the body. Throws `invalid_request`, `organization_suspended` (400), `trigger_misconfigured`.
 */
export async function readStart(
  contentType: string | null,
  {
    trigger,
    delivery,
    now,
    memory,
  }: { trigger: Trigger; delivery: ReceivedDelivery; now: Date; memory: StepMemory },
): Promise<StartRequest> {
  requireJson(contentType);
  const text = decodeText(delivery.body);
  await memory.holdText(text);
  const body = await parseBodyText(text);
  if (trigger.suspended) {
    throw new AppError("organization_suspended", "The organization is suspended.", { status: 400 });
  }
  if (trigger.misconfigured !== null) throw new AppError("trigger_misconfigured", trigger.misconfigured);
  if (trigger.target.kind === "agent") {
    const { messageTemplate } = trigger;
    if (messageTemplate === null) return { kind: "agent", targetId: trigger.target.id, userMessage: text };
    await rejectInvalidText(body);
    const facts = { now, seed: delivery.id, organizationId: trigger.actor.orgId };
    const userMessage = await fillMessageTemplate(messageTemplate, body, facts);
    return { kind: "agent", targetId: trigger.target.id, userMessage };
  }
  if (!isJsonObject(body)) {
    throw new AppError("invalid_request", "The body must be a JSON object: it is the tool's input.");
  }
  await rejectInvalidText(body);
  return { kind: "tool", targetId: trigger.target.id, input: body };
}
