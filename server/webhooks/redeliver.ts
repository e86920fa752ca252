import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { startRun } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { findTriggerById } from "./find-trigger";
import { readStart } from "./read-start";

/**
 * Delivers a stored delivery again, accepted or rejected: a new run of the trigger's target as it is now, recorded as a
 * redelivery. Signature, limits and repetition were the sender's matter and are not checked again.
 * Throws `not_found`, and what a start of the trigger throws.
 */
export async function redeliver(
  services: Services,
  actor: MemberActor,
  deliveryId: string,
): Promise<{ runId: string }> {
  const stored = await services.db.delivery.findFirst({
    where: { id: deliveryId, organizationId: actor.orgId },
  });
  if (stored === null) throw new AppError("not_found", "Delivery not found.");
  if (stored.body.length < stored.bodyBytes) {
    throw new AppError(
      "invalid_request",
      "This delivery's body was not kept: too many large calls were refused at once.",
    );
  }
  const trigger = await findTriggerById(services, actor.orgId, stored.triggerId);
  if (trigger === null) throw new AppError("not_found", "The delivery's trigger no longer exists.");
  const delivery = {
    id: newId(),
    headers: stored.headers,
    body: Buffer.from(stored.body),
    senderId: stored.senderId,
    redeliveryOf: stored.redeliveryOf ?? stored.id,
  };
  const started = readStart("application/json", trigger, delivery, services.clock.now());
  return startRun(services, trigger.actor, { ...started, delivery });
}
