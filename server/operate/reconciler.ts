import type { AdmittedRun } from "@/server/runs/dispatch";
import type { Services } from "@/server/services";

/** An admitted run that no worker has touched for this long was lost on its way to the engine. */
const UNWOKEN_AFTER_MS = 10_000;

/**
 * Admitted runs that no worker has claimed: the process died between the commit and the hand-over, or the engine
 * lost the event. Handing a run over twice is harmless, its id is the event's.
 */
export async function findUnwokenRuns(services: Services): Promise<AdmittedRun[]> {
  const before = new Date(services.clock.now().getTime() - UNWOKEN_AFTER_MS);
  const { rows } = await services.pool.query<AdmittedRun>(
    `SELECT id, kind FROM runs
     WHERE status = 'Pending' AND admitted_at < $1 AND parent_run_id IS NULL ORDER BY id LIMIT 500`,
    [before],
  );
  return rows;
}
