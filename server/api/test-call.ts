import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { EncryptionError } from "@/server/secrets/encryption";
import type { Services } from "@/server/services";
import { findTriggerById } from "@/server/webhooks/find-trigger";
import { signCall } from "@/server/webhooks/signature";
import { tokenPurpose } from "@/server/webhooks/token";
import { respondToWebhook } from "./webhook";

/** What the sender of a webhook call gets. `problem` is set if it was refused. */
export type TestCallResult = {
  status: number;
  runId: string | null;
  problem: { code: string; message: string } | null;
};

const answer = z.union([
  z.object({ success: z.literal(true), runId: z.string() }),
  z.object({ success: z.literal(false), code: z.string(), message: z.string() }),
]);

/**
 * Sends a signed call to a trigger through the webhook handler, so that checks, limits and deliveries are those of any
 * sender. Throws `not_found`, and `trigger_misconfigured` if the address cannot be decrypted.
 */
export async function sendTestCall(
  services: Services,
  actor: MemberActor,
  { triggerId, body }: { triggerId: string; body: string },
): Promise<TestCallResult> {
  const where = { id: triggerId, organizationId: actor.orgId, deletedAt: null };
  const found = await services.db.trigger.findFirst({ where, select: { tokenSealed: true } });
  const trigger = await findTriggerById(services, actor.orgId, triggerId);
  if (!found || !trigger) throw new AppError("not_found", "Trigger not found.");
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
    path: `/webhooks/${openToken(services, triggerId, found.tokenSealed)}`,
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    peer: `member ${actor.userId}`,
    readBody: async () => bytes,
  });
  const read = answer.parse(JSON.parse(response.body));
  const { status } = response;
  if (read.success) return { status, runId: read.runId, problem: null };
  return { status, runId: null, problem: { code: read.code, message: read.message } };
}

function openToken({ encryption }: Services, triggerId: string, sealed: string): string {
  try {
    return encryption.open(sealed, tokenPurpose(triggerId));
  } catch (error) {
    if (!(error instanceof EncryptionError)) throw error;
    throw new AppError("trigger_misconfigured", "The trigger's address cannot be read. Replace the address.");
  }
}
