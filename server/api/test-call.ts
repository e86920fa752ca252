import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { findTriggerById } from "@/server/catalog/webhooks/find-trigger";
import { signCall } from "@/server/catalog/webhooks/signature";
import { tokenPurpose } from "@/server/catalog/webhooks/trigger";
import type { Services } from "@/server/services";
import { respondToWebhook } from "./webhook";

const answer = z.union([
  z.object({ success: z.literal(true), runId: z.string() }),
  z.object({ success: z.literal(false), code: z.string(), message: z.string() }),
]);

/**
 * Sends a signed call to a trigger with the checks, limits and deliveries of any sender. `problem` is set if the
 * call was rejected. Throws `not_found`, and `trigger_misconfigured` if the address cannot be decrypted.
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
  const headers = new Map<string, string>([
    ["content-type", "application/json"],
    ["content-length", String(bytes.length)],
    ["user-agent", "Stepwell test call"],
    ...(secret === undefined
      ? []
      : signCall(trigger.scheme, secret, { id: newId(), body: bytes, now: services.clock.now() })),
  ]);
  const response = await respondToWebhook(services, {
    method: "POST",
    path: `/webhooks/${token}`,
    query: "",
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    peer: `member ${actor.userId}`,
    onGone: () => () => {},
    readBody: async () => bytes,
  });
  const read = answer.parse(JSON.parse(response.body));
  const { status } = response;
  const runId = read.success ? read.runId : null;
  return { status, runId, problem: read.success ? null : { code: read.code, message: read.message } };
}
