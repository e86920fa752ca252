import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineCommand, defineQuery } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import type { Services } from "@/server/catalog/services";
import type { AttemptResult } from "./send/attempt";
import { deliver } from "./send/deliver";
import { LEASE_SECONDS } from "./send/dispatcher";

const REDELIVER = defineCommand(
  "redeliver-callback",
  `UPDATE callback_deliveries SET next_at = $3, delivered_at = NULL, failures = 0
   WHERE id = $1 AND organization_id = $2`,
);

/** Sends a delivery again soon, with the same `webhook-id`, and retries it for three days. Throws `not_found`. */
export async function redeliverCallback(
  { pool, clock }: Services,
  actor: MemberActor,
  { deliveryId }: { deliveryId: string },
): Promise<void> {
  if ((await REDELIVER(pool, [deliveryId, actor.orgId, clock.now()])) === 0) throw deliveryNotFound();
}

export const deliveryNotFound = () =>
  new AppError("not_found", "Delivery not found. Its retention period may have ended.");

const REDELIVER_FAILED = defineCommand(
  "redeliver-failed-callbacks",
  `UPDATE callback_deliveries SET next_at = $4, failures = 0
   WHERE organization_id = $1 AND ($2::uuid IS NULL OR endpoint_id = $2) AND delivered_at IS NULL AND attempts > 0
     AND event_id IN (SELECT id FROM callback_events WHERE organization_id = $1 AND created_at >= $3 AND type <> 'test')`,
);

/** Sends again what an endpoint, or every one, has not received since a time. Returns how many deliveries. */
export async function redeliverFailed(
  { pool, clock }: Services,
  actor: MemberActor,
  { callbackId, since }: { callbackId: string | null; since: Date },
): Promise<{ deliveries: number }> {
  return { deliveries: await REDELIVER_FAILED(pool, [actor.orgId, callbackId, since, clock.now()]) };
}

const FIND_ADDRESS = defineQuery(
  "find-callback-address",
  z.object({ id: z.string() }),
  "SELECT id FROM callback_endpoints WHERE id = $1 AND organization_id = $2 AND slug IS NOT NULL AND deleted_at IS NULL",
);
const INSERT_TEST_EVENT = defineCommand(
  "insert-callback-test",
  `INSERT INTO callback_events (id, organization_id, type, created_at, expanded_at) VALUES ($1, $2, 'test', $3, $3)`,
);
const INSERT_TEST_DELIVERY = defineCommand(
  "insert-callback-test-delivery",
  `INSERT INTO callback_deliveries (id, organization_id, event_id, endpoint_id, created_at, next_at, leased_until, attempts)
   VALUES ($1, $2, $3, $4, $5, $5, $5::timestamptz + make_interval(secs => $6), 1)`,
);

/** Sends a test at once, also to a disabled callback. It is not retried. Throws `not_found`. */
export async function sendTestCallback(
  services: Services,
  actor: MemberActor,
  { callbackId }: { callbackId: string },
): Promise<AttemptResult & { deliveryId: string }> {
  const { pool, clock } = services;
  const { orgId } = actor;
  const at = clock.now();
  const [event, delivery] = [newId(), newId()];
  await transact(pool, async (client) => {
    const [found] = await FIND_ADDRESS(client, [callbackId, orgId]);
    if (!found) throw new AppError("not_found", "Callback not found.");
    await INSERT_TEST_EVENT(client, [event, orgId, at]);
    await INSERT_TEST_DELIVERY(client, [delivery, orgId, event, callbackId, at, LEASE_SECONDS]);
  });
  const result = await deliver(services, pool, { delivery, org: orgId, attempt: 1 });
  if (result === null) throw deliveryNotFound();
  return { ...result, deliveryId: delivery };
}
