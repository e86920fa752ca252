import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { defineQuery, isOpenSql, type Queryable } from "@/server/base/db/statement";
import { notifyRunChanged } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";
import { endUnclaimedRun } from "./engine/end-run";
import { OPEN_LISTED_STATUSES } from "./read/enums";
import type { RunFilter } from "./read/find/filter";
import { listRuns } from "./read/list";

// Returns the run's state before.
const REQUEST_CANCEL = defineQuery(
  "request-cancel",
  z.object({ sequence: z.number(), ended: z.boolean() }),
  `WITH run AS (SELECT id, sequence, finished_at FROM runs WHERE id = $1 AND organization_id = $2),
   marked AS (
     UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, $3, date_trunc('milliseconds', clock_timestamp())),
                     cancelled_by = coalesce(cancelled_by, $4)
     WHERE id = $1 AND organization_id = $2 AND ${isOpenSql()}
   )
   SELECT sequence, finished_at IS NOT NULL AS ended FROM run`,
);

/**
 * Cancels a run; idempotent. Without a worker it ends immediately, else its worker ends it within a second. Usage
 * is charged. `by` is the canceller's name for the error message. Returns false if the organization has no such
 * run.
 */
export async function cancelRun(
  services: Services,
  orgId: OrgId,
  { runId, by }: { runId: string; by: string },
): Promise<boolean> {
  const [run] = await REQUEST_CANCEL(services.pool, [runId, orgId, services.clock.forDatabase(), by]);
  if (run === undefined) return false;
  if (!run.ended) await endRequested(services, orgId, { id: runId, sequence: run.sequence, by });
  return true;
}

async function endRequested(
  services: Services,
  orgId: OrgId,
  { id, sequence, by }: { id: string; sequence: number; by: string },
): Promise<void> {
  const ended = await endUnclaimedRun(services, id, { status: "Cancelled", by });
  services.engine.abort(id);
  services.notifications.send("engine", `cancel:${id}`, `cancel:${id}`);
  if (!ended) notifyRunChanged(services, { orgId, id }, sequence);
}

const requestedRun = z.object({ id: z.string(), sequence: z.number() });

// Parents first: their children end with them.
const REQUEST_CANCELS = defineQuery(
  "request-cancels-of-organization",
  requestedRun,
  `WITH open AS (
     SELECT id FROM runs WHERE organization_id = $1::uuid AND ${isOpenSql()} AND cancel_requested_at IS NULL
     ORDER BY id LIMIT $4 FOR NO KEY UPDATE
   ), marked AS (
     UPDATE runs SET cancel_requested_at = coalesce($2::timestamptz, date_trunc('milliseconds', clock_timestamp())),
                     cancelled_by = $3::text
     FROM open WHERE runs.id = open.id RETURNING runs.id, runs.sequence
   )
   SELECT id::text AS id, sequence FROM marked ORDER BY id`,
);

type RequestedRun = z.infer<typeof requestedRun>;

/**
 * Marks open runs of an organization as cancelled, so that they get no slot, at most `limit`, the oldest first. The
 * engine ends them, `endCancelled` immediately.
 */
export function requestCancels(
  client: Queryable,
  orgId: OrgId,
  { by, at, limit }: { by: string; at: Date | null; limit: number },
): Promise<RequestedRun[]> {
  return REQUEST_CANCELS(client, [orgId, at, by, limit]);
}

export async function endCancelled(
  services: Services,
  orgId: OrgId,
  { runs, by }: { runs: readonly RequestedRun[]; by: string },
): Promise<void> {
  for (const run of runs) await endRequested(services, orgId, { ...run, by });
}

const PAGE = 200;

/**
 * Cancels open runs that match a filter, the newest first, or those older than `before`. Returns their number, and
 * the `before` of the next call as `next`; null if none remain. Repeating it terminates, because new runs are
 * newer.
 */
export async function cancelMatching(
  services: Services,
  actor: MemberActor,
  { filter, before, limit = PAGE }: { filter: RunFilter; before?: string | undefined; limit?: number },
): Promise<{ found: number; next: string | null }> {
  const status = OPEN_LISTED_STATUSES.filter(
    (open) => !filter.status?.length || filter.status.includes(open),
  );
  if (status.length === 0) return { found: 0, next: null };
  const { items, nextCursor } = await listRuns(services, actor, {
    filter: { ...filter, status },
    before,
    limit,
  });
  const fresh = items.filter((run) => !run.cancelRequested);
  for (const run of fresh) await cancelRun(services, actor.orgId, { runId: run.id, by: actor.name });
  return { found: fresh.length, next: nextCursor };
}
