import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { DAY_MS, HOUR_MS } from "@/server/base/clock";
import { defineQuery, isoDate } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { readJson } from "@/server/base/json/json";
import type { Services } from "@/server/catalog/services";
import { callbackSecretPurpose, secretHint } from "./callback-secrets";
import { callbackFacts } from "./save-callback";

// Deliveries of an hour, by the time of their events: all, and those that arrived.
const hour = z.object({ hour: z.number(), all: z.number(), delivered: z.number() });

const named = z.object({ id: z.string(), slug: z.string(), name: z.string(), archived: z.boolean() });

const line = z.object({
  id: z.string(),
  /** Null: the addresses that runs were started with. */
  slug: z.string().nullable(),
  name: z.string(),
  url: z.string().nullable(),
  events: z.array(z.string()),
  agents: z.array(named),
  tools: z.array(named),
  triggers: z.array(named),
  metadata: z.string().transform((text) => z.record(z.string(), z.string()).parse(readJson(text))),
  creditsBelow: z.string().nullable(),
  disabledAt: isoDate.nullable(),
  failingSince: isoDate.nullable(),
  hours: z.array(hour),
  p95Ms: z.number().nullable(),
  waiting: z.number(),
});

// Deliveries have their event's time in their id.
const namesOf = (table: string, ids: string) =>
  `coalesce((SELECT json_agg(json_build_object('id', t.id, 'slug', t.slug, 'name', t.name, 'archived', t.deleted_at IS NOT NULL) ORDER BY t.slug) FROM ${table} t
             WHERE t.organization_id = c.organization_id AND t.id = ANY(${ids})), '[]')`;

const LIST = defineQuery(
  "list-callbacks",
  line,
  `SELECT c.id, c.slug, c.name, c.url, c.events, c.metadata, trim_scale(c.credits_below)::text AS "creditsBelow", c.disabled_at AS "disabledAt", c.failing_since AS "failingSince",
     ${namesOf("agents", "c.target_ids")} AS agents, ${namesOf("tools", "c.target_ids")} AS tools, ${namesOf("triggers", "c.trigger_ids")} AS triggers,
     coalesce((SELECT json_agg(json_build_object('hour', h.hour, 'all', h.n, 'delivered', h.delivered) ORDER BY h.hour) FROM (
       SELECT floor(extract(epoch FROM e.created_at - $2::timestamptz) / 3600)::int AS hour, count(*)::int AS n, count(d.delivered_at)::int AS delivered
       FROM callback_deliveries d JOIN callback_events e ON e.id = d.event_id
       WHERE d.endpoint_id = c.id AND d.id >= run_id_floor($2) AND e.created_at >= $2 AND e.type <> 'test' GROUP BY 1) h), '[]') AS hours,
     (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms) FROM callback_deliveries d
      JOIN callback_attempts a ON a.delivery_id = d.id AND a.error IS NULL
      WHERE d.endpoint_id = c.id AND d.id >= run_id_floor($2)) AS "p95Ms",
     (SELECT count(*)::int FROM callback_deliveries d WHERE d.endpoint_id = c.id AND d.next_at IS NOT NULL) AS waiting
   FROM callback_endpoints c
   WHERE c.organization_id = $1 AND c.deleted_at IS NULL AND ($3::uuid IS NULL OR c.id = $3)
   ORDER BY c.slug NULLS LAST`,
);

export type CallbackLine = Awaited<ReturnType<typeof listCallbacks>>["callbacks"][number];
export type CallbackDetail = Awaited<ReturnType<typeof inspectCallback>>;

// From the beginning of an hour, so that the current one is the last of 24.
function sinceOf(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - DAY_MS + HOUR_MS);
}

/** The organization's callbacks by slug, with their deliveries of 24 hours. `since`: when the first of `hours` begins. */
export async function listCallbacks({ pool, clock }: Services, actor: MemberActor) {
  const since = sinceOf(clock.now());
  return { since: since.toISOString(), callbacks: await LIST(pool, [actor.orgId, since, null]) };
}

/** One callback, with what signs it. `facts` are what the form replaces. Throws `not_found`. */
export async function inspectCallback(
  { pool, db, clock, encryption }: Services,
  actor: MemberActor,
  { callbackId }: { callbackId: string },
) {
  const now = clock.now();
  const since = sinceOf(now);
  // Read first: a form that shows newer facts cannot be saved, one that shows older facts would overwrite.
  const row = await db.callbackEndpoint.findFirst({
    where: { id: callbackId, organizationId: actor.orgId, deletedAt: null },
  });
  const [callback] = await LIST(pool, [actor.orgId, since, callbackId]);
  if (!row || !callback) throw new AppError("not_found", "Callback not found.");
  const stored = await db.callbackSecret.findMany({
    where: { endpointId: callbackId, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
    orderBy: { createdAt: "desc" },
  });
  const secrets = stored.map(({ sealed, expiresAt }) => {
    const secret = encryption.openOrNull(sealed, callbackSecretPurpose(callbackId));
    return { hint: secret && secretHint(secret), until: expiresAt?.toISOString() ?? null };
  });
  return { ...callback, since: since.toISOString(), secrets, facts: callbackFacts(row) };
}
