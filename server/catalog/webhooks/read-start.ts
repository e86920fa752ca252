import { AppError } from "@/server/base/errors";
import { rejectInvalidText } from "@/server/base/json/body";
import { isJsonObject } from "@/server/base/json/json";
import type { StartRequest } from "@/server/runs/prepare-start";
import { fillMessageTemplate } from "./message-template";
import type { CallBody } from "./senders/call-body";
import type { Trigger } from "./trigger";

/** Throws `organization_suspended` (400) or `trigger_misconfigured` if the trigger cannot start runs. */
export function requireUsable({ suspended, misconfigured }: Trigger): void {
  if (suspended)
    throw new AppError("organization_suspended", "The organization is suspended.", { status: 400 });
  if (misconfigured !== null) throw new AppError("trigger_misconfigured", misconfigured);
}

/**
 * The start of a call. An agent gets the body's text, byte for byte if it came as JSON, or its template's message; a
 * tool gets the body. `signal` bounds the template. Throws `invalid_request`, `trigger_misconfigured`.
 */
export async function readStart(
  { text, json }: CallBody,
  {
    trigger,
    seed,
    now,
    signal,
  }: { trigger: Trigger; seed: string; now: Date; signal?: AbortSignal | undefined },
): Promise<StartRequest> {
  const { target, messageTemplate, actor } = trigger;
  if (target.kind === "agent") {
    if (messageTemplate === null) return { kind: "agent", targetId: target.id, userMessage: text };
    await rejectInvalidText(json);
    const facts = { now, seed, organizationId: actor.orgId, signal };
    const userMessage = await fillMessageTemplate(messageTemplate, json, facts);
    return { kind: "agent", targetId: target.id, userMessage };
  }
  if (!isJsonObject(json)) {
    throw new AppError("invalid_request", "The body must be a JSON object: it is the tool's input.");
  }
  await rejectInvalidText(json);
  return { kind: "tool", targetId: target.id, input: json };
}
