import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import { defineCommand, defineQuery, queryThrough } from "@/server/base/db/statement";
import { transact, transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import type { Services } from "@/server/catalog/services";
import { requireRate } from "@/server/guard/limits/rate-limit";
import type { AttemptResult } from "./send/attempt";
import { deliver } from "./send/deliver";
import { LEASE_SECONDS } from "./send/dispatcher";

const REDELIVER = defineQuery(
  "redeliver-callback",
  z.object({ id: z.string(), name: z.string() }),
  `UPDATE callback_deliveries d SET next_at = $3, delivered_at = NULL, failures = 0
   FROM callback_endpoints c WHERE d.id = $1 AND d.organization_id = $2 AND c.id = d.endpoint_id RETURNING c.id, c.name`,
);

/** Sends a delivery again soon, with the same `webhook-id`, and retries it for three days. Throws `not_found`. */
export async function redeliverCallback(
  { db, clock }: Services,
  actor: MemberActor,
  { deliveryId }: { deliveryId: string },
): Promise<void> {
  const at = clock.now();
  await transactPrisma(db, "short", async (tx) => {
    const [callback] = await REDELIVER(queryThrough(tx), [deliveryId, actor.orgId, at]);
    if (callback === undefined) throw deliveryNotFound();
    const subject = { kind: "callback", ...callback } as const;
    await recordAudit({ tx, actor, at }, { verb: "redelivered", subject, changes: { deliveryId } });
  });
}

export const deliveryNotFound = () =>
  new AppError("not_found", "Delivery not found. Its retention period may have ended.");

const EVENTS_AT_ONCE = 2_000;

// Of the events that follow ($3, $4), at most as many as fit in a short statement.
const REDELIVER_FAILED = defineQuery(
  "redeliver-failed-callbacks",
  z.object({ deliveries: z.number(), last: z.object({ at: z.string(), id: z.string() }).nullable() }),
  `WITH events AS (
     SELECT id, type, created_at FROM callback_events
     WHERE organization_id = $1 AND (created_at, id) > ($3::timestamptz, $4::uuid) AND created_at <= $5
     ORDER BY created_at, id LIMIT ${EVENTS_AT_ONCE}
   ), redelivered AS (
     UPDATE callback_deliveries SET next_at = $5, failures = 0
     WHERE organization_id = $1 AND ($2::uuid IS NULL OR endpoint_id = $2) AND delivered_at IS NULL AND attempts > 0
       AND event_id IN (SELECT id FROM events WHERE type <> 'test')
     RETURNING 1
   )
   SELECT (SELECT count(*)::int FROM redelivered) AS deliveries,
     (SELECT json_build_object('at', created_at, 'id', id) FROM events ORDER BY created_at DESC, id DESC LIMIT 1) AS last`,
);
const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/**
 * Sends again what an endpoint, or every one, has not received since a time. Returns how many deliveries. Each batch is
 * a transaction of its own, so an error leaves those before it; what was done is recorded.
 */
export async function redeliverFailed(
  { db, pool, clock }: Services,
  actor: MemberActor,
  { callbackId, since }: { callbackId: string | null; since: Date },
): Promise<{ deliveries: number }> {
  const at = clock.now();
  let deliveries = 0;
  try {
    let after: { at: Date | string; id: string } | null = { at: since, id: BEFORE_ALL_IDS };
    while (after !== null) {
      const [batch] = await REDELIVER_FAILED(pool, [actor.orgId, callbackId, after.at, after.id, at]);
      deliveries += batch?.deliveries ?? 0;
      after = batch?.last ?? null;
    }
  } finally {
    if (deliveries > 0) await recordRedelivery({ db, actor, at }, { callbackId, since, deliveries });
  }
  return { deliveries };
}

async function recordRedelivery(
  { db, actor, at }: { db: Services["db"]; actor: MemberActor; at: Date },
  { callbackId, since, deliveries }: { callbackId: string | null; since: Date; deliveries: number },
): Promise<void> {
  await transactPrisma(db, "short", async (tx) => {
    let name = "All callbacks";
    if (callbackId !== null) {
      const where = { id: callbackId, organizationId: actor.orgId };
      ({ name } = await tx.callbackEndpoint.findUniqueOrThrow({ where, select: { name: true } }));
    }
    const subject = { kind: "callback", id: callbackId, name } as const;
    const changes = { since: since.toISOString(), deliveries };
    await recordAudit({ tx, actor, at }, { verb: "redelivered", subject, changes });
  });
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

const TESTS = { limit: 20, seconds: 60, message: "Too many tests of callbacks were sent." };

/** Sends a test at once, also to a disabled callback. It is not retried. Throws `not_found`, `rate_limited`. */
export async function sendTestCallback(
  services: Services,
  actor: MemberActor,
  { callbackId }: { callbackId: string },
): Promise<AttemptResult & { deliveryId: string }> {
  const { pool, clock } = services;
  const { orgId } = actor;
  await requireRate(services, { key: `callback-test:${orgId}`, ...TESTS });
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
