import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import type { Services } from "@/server/catalog/services";
import { JSON_TYPE } from "@/server/contract/media-types";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import { startRun } from "@/server/runs/start";
import { recordRejection } from "./deliveries";
import { findTriggerById } from "./find-trigger";
import { bodyMissing } from "./inspect-deliveries";
import { readStart, requireUsable } from "./read-start";
import { bodyFormOf, readCallBody } from "./senders/call-body";
import type { Trigger } from "./trigger";

/**
 * Redelivers a stored delivery to the trigger's current target and records the attempt, also if it is rejected.
 * Skips signature, filter, limits and repetition. Throws `not_found`, `invalid_request` (the body was not stored), and the
 * errors of a start.
 */
export async function redeliver(
  services: Services,
  actor: MemberActor,
  { deliveryId }: { deliveryId: string },
): Promise<{ runId: string }> {
  const stored = await services.db.delivery.findFirst({
    where: { id: deliveryId, organizationId: actor.orgId },
  });
  if (stored === null) throw new AppError("not_found", "Delivery not found.");
  if (stored.bodyNote !== null) throw bodyMissing(stored.bodyNote);
  const trigger = await findTriggerById(services, actor.orgId, stored.triggerId);
  if (trigger === null) throw new AppError("not_found", "The delivery's trigger no longer exists.");
  const delivery: ReceivedDelivery = {
    id: newId(),
    headers: stored.headers,
    body: Buffer.from(stored.body),
    senderId: stored.senderId,
    redeliveryOf: stored.redeliveryOf ?? stored.id,
  };
  const now = services.clock.now();
  try {
    return await services.memory.answer(actor.orgId, delivery.body.length, async (memory) => {
      const contentType = contentTypeOf(delivery, trigger);
      const body = await readCallBody(delivery.body, { bodies: trigger.sender.bodies, contentType, memory });
      requireUsable(trigger);
      const started = await readStart(body, { trigger, seed: delivery.id, now });
      return startRun(services, trigger.actor, { ...started, delivery: { ...delivery, receivedAt: now } });
    });
  } catch (error) {
    if (isAppError(error)) {
      await recordRejection(services, trigger.actor, { delivery, error, receivedAt: now });
    }
    throw error;
  }
}

const storedType = z.object({ "content-type": z.string().optional() });

/** A call that was rejected for its type is redelivered as JSON. */
function contentTypeOf({ headers }: ReceivedDelivery, { sender }: Trigger): string {
  const { "content-type": type } = storedType.parse(JSON.parse(headers));
  return type !== undefined && bodyFormOf(sender.bodies, type) !== null ? type : JSON_TYPE;
}
