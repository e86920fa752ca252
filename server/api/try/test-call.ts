import { z } from "zod";
import { respondToWebhook } from "@/server/api/webhook";
import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { findTriggerById } from "@/server/catalog/webhooks/find-trigger";
import { signCall } from "@/server/catalog/webhooks/senders/sign-call";
import { tokenPurpose, triggerUrl } from "@/server/catalog/webhooks/trigger";
import { JSON_TYPE } from "@/server/contract/media-types";
import { WEBHOOK, webhookPath } from "@/server/contract/webhook";
import type { Services } from "@/server/services";

const answer = z.union([
  z.object({ success: z.literal(true), runId: z.string() }),
  z.object({ success: z.literal(false), runId: z.null() }),
  z.object({ success: z.literal(false), code: z.string(), message: z.string() }),
]);

/**
 * Sends a signed call to a trigger with the checks, limits and deliveries of any sender. `problem` is set if the
 * call was rejected, `runId` if it started a run. Throws `not_found`, and `trigger_misconfigured` if the address cannot be decrypted.
 */
export async function sendTestCall(
  services: Services,
  actor: MemberActor,
  { triggerId, body }: { triggerId: string; body: string },
) {
  const where = { id: triggerId, organizationId: actor.orgId, deletedAt: null };
  const found = await services.db.trigger.findFirst({ where, select: { tokenSealed: true } });
  const trigger = await findTriggerById(services, actor.orgId, triggerId);
  if (!found || !trigger) throw new AppError("not_found", "Trigger not found.");
  const token = services.encryption.openOrNull(found.tokenSealed, tokenPurpose(triggerId));
  if (token === null) {
    throw new AppError("trigger_misconfigured", "The trigger's address cannot be read. Replace the address.");
  }
  const bytes = Buffer.from(body);
  const secret = trigger.secrets?.[0]?.value;
  const url = triggerUrl(services.env.appUrl, token);
  const call = { id: newId(), body: bytes, url, now: services.clock.now() };
  const signed = secret === undefined ? null : signCall(trigger.sender.rule, secret, call);
  const headers = new Map<string, string>([
    ["content-type", JSON_TYPE],
    ["content-length", String(bytes.length)],
    ["user-agent", "Stepwell test call"],
    ...(signed?.headers ?? []),
  ]);
  const response = await respondToWebhook(services, {
    method: WEBHOOK.method,
    path: webhookPath(token),
    query: signed?.query ?? "",
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    peer: `member ${actor.userId}`,
    signal: new AbortController().signal,
    readBody: async () => bytes,
  });
  const { status } = response;
  const isJson = response.headers["Content-Type"]?.startsWith(JSON_TYPE);
  const read = isJson ? answer.parse(JSON.parse(response.body)) : null;
  if (read !== null && "code" in read) {
    return { status, runId: null, problem: { code: read.code, message: read.message } };
  }
  return { status, runId: read?.runId ?? null, problem: null };
}
