import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { defineQuery, isoDate } from "@/server/base/db/statement";
import type { Services } from "@/server/catalog/services";
import { deliveryNotFound } from "./redeliver-callbacks";
import { renderCallback } from "./send/payload";
import { webhookId } from "./send/sign";

export const CALLBACK_DELIVERY_STATES = ["undelivered", "delivered"] as const;
type DeliveryState = (typeof CALLBACK_DELIVERY_STATES)[number];

const summary = z.object({
  id: z.string(),
  callbackId: z.string(),
  callbackName: z.string(),
  type: z.string(),
  at: isoDate,
  runId: z.string().nullable(),
  /** Of an event about a schedule, its name. */
  targetName: z.string().nullable(),
  input: z.string().nullable(),
  /** The time of the next attempt; null: none. */
  nextAt: isoDate.nullable(),
  deliveredAt: isoDate.nullable(),
  attempts: z.number(),
  /** Of the last attempt. */
  status: z.number().nullable(),
  durationMs: z.number().nullable(),
  error: z.string().nullable(),
});

const COLUMNS = `d.id, d.endpoint_id AS "callbackId", c.name AS "callbackName", e.type, e.created_at AS at, e.run_id AS "runId",
  coalesce(r.target_name, s.name) AS "targetName", left(r.input, 120) AS input, d.next_at AS "nextAt", d.delivered_at AS "deliveredAt", d.attempts,
  a.status, a.duration_ms AS "durationMs", a.error`;
const JOINED = `JOIN callback_events e ON e.id = d.event_id JOIN callback_endpoints c ON c.id = d.endpoint_id
  LEFT JOIN runs r ON r.id = e.run_id LEFT JOIN schedules s ON s.id = e.schedule_id
  LEFT JOIN LATERAL (SELECT status, duration_ms, error FROM callback_attempts WHERE delivery_id = d.id ORDER BY number DESC LIMIT 1) a ON true`;

// Each callback's page comes from its index. The condition is a literal, because PostgreSQL matches a partial index only
// with literals.
const defineList = (name: string, condition: string) =>
  defineQuery(
    name,
    summary,
    `SELECT ${COLUMNS} FROM callback_endpoints own CROSS JOIN LATERAL (
       SELECT * FROM callback_deliveries WHERE endpoint_id = own.id AND id < $3 AND ${condition}
       ORDER BY id DESC LIMIT $4) d ${JOINED}
     WHERE own.organization_id = $1 AND own.deleted_at IS NULL AND ($2::uuid IS NULL OR own.id = $2)
     ORDER BY d.id DESC LIMIT $4`,
  );
const LISTS = {
  all: defineList("list-callback-deliveries", "true"),
  undelivered: defineList("list-undelivered-callbacks", "delivered_at IS NULL"),
  delivered: defineList("list-delivered-callbacks", "delivered_at IS NOT NULL"),
} satisfies Record<DeliveryState | "all", unknown>;
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export type CallbackDeliveryLine = Awaited<ReturnType<typeof listCallbackDeliveries>>["items"][number];
export type CallbackDeliveryDetail = Awaited<ReturnType<typeof inspectCallbackDelivery>>;

/** Deliveries of one callback or of all, newest first. */
export async function listCallbackDeliveries(
  { pool }: Pick<Services, "pool">,
  actor: Pick<MemberActor, "orgId">,
  {
    callbackId = null,
    state,
    cursor,
    limit,
  }: PageRequest & { callbackId?: string | null | undefined; state?: DeliveryState | null | undefined },
) {
  const list = LISTS[state ?? "all"];
  return pageOf(await list(pool, [actor.orgId, callbackId, cursor ?? LAST_ID, limit + 1]), limit, "id");
}

const READ = defineQuery(
  "inspect-callback-delivery",
  summary.extend({
    eventId: z.string(),
    data: z.string().nullable(),
    reason: z.string().nullable(),
    until: z.date().nullable(),
  }),
  `SELECT ${COLUMNS}, e.id AS "eventId", e.data, w.reason, w.until FROM callback_deliveries d ${JOINED}
   LEFT JOIN run_events w ON w.run_id = e.run_id AND w.n = e.wait
   WHERE d.id = $1 AND d.organization_id = $2`,
);
const READ_ATTEMPTS = defineQuery(
  "read-callback-attempts",
  z.object({
    number: z.number(),
    at: isoDate,
    durationMs: z.number(),
    status: z.number().nullable(),
    error: z.string().nullable(),
    answer: z.string(),
  }),
  `SELECT number, at, duration_ms AS "durationMs", status, error, answer FROM callback_attempts
   WHERE delivery_id = $1 ORDER BY number DESC LIMIT 100`,
);

/** One delivery with its attempts, the last first, and the body that would be sent now. Throws `not_found`. */
export async function inspectCallbackDelivery(
  { pool, env, clock }: Services,
  actor: MemberActor,
  { deliveryId }: { deliveryId: string },
) {
  const [found] = await READ(pool, [deliveryId, actor.orgId]);
  if (!found) throw deliveryNotFound();
  const { eventId, data, reason, until, ...delivery } = found;
  const event = {
    orgId: actor.orgId,
    type: delivery.type,
    at: new Date(delivery.at),
    runId: delivery.runId,
    data,
    wait: reason === null ? null : { reason, until },
  };
  return {
    ...delivery,
    webhookId: webhookId(eventId, delivery.callbackId),
    // Null: the run was deleted.
    body: await renderCallback(pool, event, { appUrl: env.appUrl, now: clock.now() }),
    tries: await READ_ATTEMPTS(pool, [deliveryId]),
  };
}
