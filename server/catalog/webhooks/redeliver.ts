import { z } from "zod";
import type { ApiKeyActor, MemberActor, OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { recordAudit } from "@/server/base/audit";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import type { Services } from "@/server/catalog/services";
import { JSON_TYPE } from "@/server/contract/media-types";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { ReceivedDelivery } from "@/server/runs/received-delivery";
import { rejectStart, type StartResult, startRun } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import type { StartOptions } from "@/server/runs/start-options";
import { recordRejection } from "./deliveries";
import { findTriggerById } from "./find-trigger";
import { bodyMissing } from "./inspect-deliveries";
import { readStart, requireUsable } from "./read-start";
import { bodyFormOf, readCallBody } from "./senders/call-body";
import type { Trigger } from "./trigger";

/**
 * Redelivers a stored delivery to the trigger's current target and records the attempt, also if it is rejected.
 * Skips signature and filter, and the trigger's rate limit and repetition. Throws `not_found`, `invalid_request` (the body
 * was not stored), and the errors of a start.
 */
export async function redeliver(
  services: Services,
  actor: MemberActor | ApiKeyActor,
  {
    deliveryId,
    options,
    conditions = {},
  }: { deliveryId: string; options?: StartOptions | undefined; conditions?: StartConditions | undefined },
): Promise<StartResult> {
  const found = await requireStored(services, actor.orgId, deliveryId).catch(toRejected);
  if ("rejected" in found) return rejectStart(services, actor, { error: found.rejected, conditions });
  const { stored, trigger } = found;
  const delivery: ReceivedDelivery = {
    id: newId(),
    headers: stored.headers,
    body: Buffer.from(stored.body),
    senderId: stored.senderId,
    redeliveryOf: stored.redeliveryOf ?? stored.id,
  };
  const now = services.clock.now();
  const read = async (memory: StepMemory) => {
    const contentType = contentTypeOf(delivery, trigger);
    const body = await readCallBody(delivery.body, { bodies: trigger.sender.bodies, contentType, memory });
    requireUsable(trigger);
    return { start: await readStart(body, { trigger, seed: delivery.id, now }) };
  };
  try {
    return await services.memory.answer(actor.orgId, { bytes: delivery.body.length }, async (memory) => {
      const request = await read(memory).catch(toRejected);
      if ("rejected" in request) {
        return rejectStart(services, trigger.actor, { error: request.rejected, conditions });
      }
      const started = await startRun(services, trigger.actor, {
        ...request.start,
        delivery: { ...delivery, receivedAt: now },
        options: withCapOf(actor, options),
        conditions,
      });
      if (started.replay === null) {
        await recordRedelivery(services, actor, { trigger, deliveryId, runId: started.runId, at: now });
      }
      return started;
    });
  } catch (error) {
    if (isAppError(error)) {
      await recordRejection(services, trigger.actor, { delivery, error, receivedAt: now });
    }
    throw error;
  }
}

// The run is the trigger's, whose own cap applies to it anyway.
function withCapOf(
  actor: MemberActor | ApiKeyActor,
  options: StartOptions | undefined,
): StartOptions | undefined {
  if (actor.kind === "member" || actor.maxCredits === null) return options;
  const maxCredits = Decimal.min(actor.maxCredits, options?.maxCredits ?? actor.maxCredits);
  return { ...options, maxCredits };
}

async function recordRedelivery(
  { db }: Services,
  actor: MemberActor | ApiKeyActor,
  { trigger, deliveryId, runId, at }: { trigger: Trigger; deliveryId: string; runId: string; at: Date },
): Promise<void> {
  const subject = { kind: "trigger", id: trigger.actor.triggerId, name: trigger.actor.name } as const;
  await transactPrisma(db, "short", (tx) =>
    recordAudit({ tx, actor, at }, { verb: "redelivered", subject, changes: { deliveryId, runId } }),
  );
}

/** `rejectStart` counts the call, and throws the error unless the call repeats an accepted one. */
const toRejected = (rejected: unknown) => ({ rejected });

async function requireStored(services: Services, orgId: OrgId, deliveryId: string) {
  const stored = await services.db.delivery.findFirst({ where: { id: deliveryId, organizationId: orgId } });
  if (stored === null) throw new AppError("not_found", "Delivery not found.");
  if (stored.bodyNote !== null) throw bodyMissing(stored.bodyNote);
  const trigger = await findTriggerById(services, orgId, stored.triggerId);
  if (trigger === null) throw new AppError("not_found", "The delivery's trigger no longer exists.");
  return { stored, trigger };
}

const storedType = z.object({ "content-type": z.string().optional() });

// A call that was rejected for its type is redelivered as JSON.
function contentTypeOf({ headers }: ReceivedDelivery, { sender }: Trigger): string {
  const { "content-type": type } = storedType.parse(JSON.parse(headers));
  return type !== undefined && bodyFormOf(sender.bodies, type) !== null ? type : JSON_TYPE;
}
