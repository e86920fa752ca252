import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { defineQuery, isoDate } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import type { Services } from "@/server/catalog/services";
import { DELIVERY_OUTCOMES, type DeliveryOutcomeName, RUN_KINDS } from "@/server/contract/enums";

/** Deliveries as an API key sees them: those of triggers whose agent or tool it may use. */

type Key = Pick<ApiKeyActor, "orgId" | "targetIds">;

/** The triggers of organization $1 that a key with the targets $2 may see. */
const SEEN = `t.organization_id = $1 AND t.deleted_at IS NULL
  AND (cardinality($2::uuid[]) = 0 OR coalesce(t.agent_id, t.tool_id) = ANY ($2::uuid[]))`;

// Each trigger's deliveries are in the order of an index.
const LIST = defineQuery(
  "list-deliveries",
  z.object({
    id: z.string(),
    triggerId: z.string(),
    receivedAt: isoDate,
    outcome: z.enum(DELIVERY_OUTCOMES),
    status: z.number(),
    code: z.string().nullable(),
    reason: z.string().nullable(),
    bodyBytes: z.number(),
    senderId: z.string().nullable(),
    redeliveryOf: z.string().nullable(),
    runId: z.string().nullable(),
  }),
  `SELECT d.* FROM triggers t CROSS JOIN LATERAL (
     SELECT id, trigger_id AS "triggerId", received_at AS "receivedAt", outcome, status, code, reason,
       body_bytes AS "bodyBytes", sender_id AS "senderId", redelivery_of AS "redeliveryOf", run_id AS "runId"
     FROM deliveries
     WHERE organization_id = t.organization_id AND trigger_id = t.id AND id < $4
       AND ($5::delivery_outcome IS NULL OR outcome = $5)
     ORDER BY id DESC LIMIT $6
   ) d
   WHERE ${SEEN} AND ($3::uuid IS NULL OR t.id = $3)
   ORDER BY d.id DESC LIMIT $6`,
);

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** The deliveries of all triggers, or of one, newest first, without bodies and headers. */
export async function listAllDeliveries(
  { pool }: Pick<Services, "pool">,
  { orgId, targetIds }: Key,
  {
    triggerId = null,
    outcome = null,
    cursor,
    limit,
  }: PageRequest & {
    triggerId?: string | undefined | null;
    outcome?: DeliveryOutcomeName | undefined | null;
  },
) {
  const values = [orgId, targetIds, triggerId, cursor ?? LAST_ID, outcome, limit + 1];
  return pageOf(await LIST(pool, values), limit, "id");
}

const FIND = defineQuery(
  "find-delivery-target",
  z.object({ kind: z.enum(RUN_KINDS) }),
  `SELECT CASE WHEN t.agent_id IS NULL THEN 'tool' ELSE 'agent' END AS kind
   FROM deliveries d JOIN triggers t ON t.id = d.trigger_id AND t.organization_id = d.organization_id
   WHERE d.id = $3 AND ${SEEN}`,
);

/** The kind of run that a delivery's trigger starts. Throws `not_found` if the key may not see the delivery. */
export async function requireOwnDelivery(
  { pool }: Pick<Services, "pool">,
  { orgId, targetIds }: Key,
  deliveryId: string,
) {
  const [found] = await FIND(pool, [orgId, targetIds, deliveryId]);
  if (found === undefined) throw new AppError("not_found", "Delivery not found.");
  return found;
}
