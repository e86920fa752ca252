import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineQuery, isOpenSql, isoDate } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import type { Services } from "@/server/runs/services";

export type Liveness = Awaited<ReturnType<typeof readLiveness>>;

const READ = defineQuery(
  "read-liveness",
  z.object({
    silentMs: z.number().nullable(),
    queued: z.boolean(),
    ahead: z.number(),
    slots: z.number(),
    taken: z.number(),
    wakeAt: isoDate.nullable(),
  }),
  `SELECT CASE WHEN w.id IS NOT NULL
       THEN greatest(0, extract(epoch FROM clock_timestamp() - w.heartbeat_at) * 1000)::float8 END AS "silentMs",
     r.status = 'Pending' AND r.admitted_at IS NULL AND r.parent_run_id IS NULL AS queued,
     (SELECT count(*)::int FROM runs q WHERE q.organization_id = r.organization_id AND ${isOpenSql("q")}
        AND q.admitted_at IS NULL AND q.parent_run_id IS NULL AND q.wake_at IS NULL AND q.id < r.id) AS ahead,
     p.concurrency AS slots, o.in_flight AS taken, r.wake_at AS "wakeAt"
   FROM runs r JOIN plans p ON p.organization_id = r.organization_id JOIN organizations o ON o.id = r.organization_id
   LEFT JOIN workers w ON w.id = r.claimed_by AND r.status = 'Running'
   WHERE r.id = $1 AND r.organization_id = $2`,
);

/** Reads when a run's worker last reported. Heartbeats emit no events, so the page polls this. Throws not_found. */
export async function readLiveness(services: Pick<Services, "pool">, actor: MemberActor, runId: string) {
  const [found] = await READ(services.pool, [runId, actor.orgId]);
  if (!found) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const { silentMs, queued, ahead, slots, taken, wakeAt } = found;
  return {
    // Since its worker last reported; null without a worker.
    silentMs,
    // `ahead`: earlier runs that wait; `taken`: of the plan's slots. Null if the run has a slot.
    queue: queued ? { ahead, slots, taken } : null,
    // Null: the run does not wait without a slot.
    wakeAt,
  };
}
