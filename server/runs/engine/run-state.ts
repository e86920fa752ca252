import type { Queryable } from "@/server/db/sql";
import { transact } from "@/server/db/sql";
import { notifyRunChanged } from "@/server/live/run-changes";
import type { Services } from "@/server/services";
import type { ClaimedRun } from "./claimed-run";

/** Changes of a run between start and end. Each is a compare-and-set under the lock of the run's row. */

/** Whether a run has ended, has a worker, or is being cancelled; null if it does not exist. */
export async function readState(
  { pool }: Pick<Services, "pool">,
  runId: string,
): Promise<{ terminal: boolean; claimed: boolean; cancelledBy: string | null } | null> {
  const { rows } = await pool.query<{ terminal: boolean; claimed: boolean; cancelledBy: string | null }>(
    `SELECT finished_at IS NOT NULL AS terminal, claimed_by IS NOT NULL AS claimed,
            CASE WHEN cancel_requested_at IS NOT NULL THEN coalesce(cancelled_by, 'a user') END AS "cancelledBy"
     FROM runs WHERE id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}

/**
 * Takes a run's slot: the run waits for one again, from `wakeAt` on if that is set. False if it is to be cancelled or this
 * worker no longer has it.
 */
export async function yieldSlot(
  services: Services,
  run: ClaimedRun,
  { workerId, sequence, wakeAt = null }: { workerId: string; sequence: number; wakeAt?: Date | null },
): Promise<boolean> {
  const yielded = await transact(services.pool, async (client) => {
    await client.query("SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE", [run.orgId]);
    const { rowCount } = await client.query(
      `UPDATE runs SET admitted_at = NULL, claimed_by = NULL, sequence = $4, wake_at = $6,
                       yielded_at = yielded_at || coalesce($5, date_trunc('milliseconds', clock_timestamp()))
       WHERE id = $1 AND claimed_by = $2 AND epoch = $3 AND status = 'Running' AND cancel_requested_at IS NULL`,
      [run.id, workerId, run.epoch, sequence, services.clock.forDatabase(), wakeAt],
    );
    if (rowCount === 0) return false;
    await releaseChildren(client, run.id, workerId);
    await client.query("UPDATE organizations SET in_flight = in_flight - 1 WHERE id = $1", [run.orgId]);
    return true;
  });
  if (yielded) notifyRunChanged(services, run, sequence);
  return yielded;
}

/** Releases a run between two segments that an Inngest server calls; it keeps its slot. False as in `yieldSlot`. */
export async function pauseRun(services: Services, run: ClaimedRun, workerId: string): Promise<boolean> {
  return transact(services.pool, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE runs SET claimed_by = NULL, admitted_at = coalesce($4, date_trunc('milliseconds', clock_timestamp()))
       WHERE id = $1 AND claimed_by = $2 AND epoch = $3 AND status = 'Running' AND cancel_requested_at IS NULL`,
      [run.id, workerId, run.epoch, services.clock.forDatabase()],
    );
    if (rowCount === 0) return false;
    await releaseChildren(client, run.id, workerId);
    return true;
  });
}

/**
 * Claims a run of this worker again, so that it is read as by another worker, and releases its child runs. False if
 * this worker no longer has it.
 */
export async function renewClaim(
  { pool }: Pick<Services, "pool">,
  run: ClaimedRun,
  workerId: string,
): Promise<boolean> {
  return transact(pool, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE runs SET epoch = epoch + 1 WHERE id = $1 AND claimed_by = $2 AND epoch = $3 AND status = 'Running'`,
      [run.id, workerId, run.epoch],
    );
    if (rowCount === 0) return false;
    await releaseChildren(client, run.id, workerId);
    return true;
  });
}

/** The root runs of a worker. */
export async function findClaimedRuns(
  { pool }: Pick<Services, "pool">,
  workerId: string,
): Promise<{ id: string; epoch: number }[]> {
  const { rows } = await pool.query<{ id: string; epoch: number }>({
    name: "find-claimed-runs",
    text: `SELECT id, epoch FROM runs WHERE claimed_by = $1 AND status IN ('Pending', 'Running') AND parent_run_id IS NULL`,
    values: [workerId],
  });
  return rows;
}

/** Open runs that are to be cancelled, by whom, and whether they have a worker. */
export async function findCancelledRuns(
  client: Queryable,
): Promise<{ id: string; by: string; claimed: boolean }[]> {
  const { rows } = await client.query<{ id: string; by: string; claimed: boolean }>({
    name: "look-for-cancels",
    text: `SELECT id, coalesce(cancelled_by, 'a user') AS by, claimed_by IS NOT NULL AS claimed FROM runs
           WHERE status IN ('Pending', 'Running') AND cancel_requested_at IS NOT NULL ORDER BY id LIMIT 500`,
  });
  return rows;
}

/** How many runs were handed over to an Inngest server that has not called them yet. */
export async function countHandedOver(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL`,
  );
  return rows[0]?.n ?? 0;
}

/** Releases runs that a worker has but does not execute: they wait for a slot again. Returns those that it still had. */
export async function releaseRuns(
  { pool }: Pick<Services, "pool">,
  workerId: string,
  runs: readonly { id: string; epoch: number }[],
): Promise<string[]> {
  return transact(pool, async (client) => {
    await client.query(
      `SELECT FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE id = ANY($1)) ORDER BY id FOR NO KEY UPDATE`,
      [runs.map(({ id }) => id)],
    );
    const { rows } = await client.query<{ id: string; organizationId: string }>(
      `UPDATE runs SET claimed_by = NULL, admitted_at = NULL
       FROM unnest($2::uuid[], $3::int[]) AS claim (id, epoch)
       WHERE runs.id = claim.id AND runs.epoch = claim.epoch AND claimed_by = $1 AND status IN ('Pending', 'Running')
       RETURNING runs.id, organization_id AS "organizationId"`,
      [workerId, runs.map(({ id }) => id), runs.map(({ epoch }) => epoch)],
    );
    for (const { id } of rows) await releaseChildren(client, id, workerId);
    await client.query(
      `UPDATE organizations o SET in_flight = in_flight - n
       FROM (SELECT id, count(*)::int AS n FROM unnest($1::uuid[]) AS id GROUP BY id) r WHERE o.id = r.id`,
      [rows.map(({ organizationId }) => organizationId)],
    );
    return rows.map(({ id }) => id);
  });
}

/** Releases the children of a run of this worker. */
export async function releaseChildren(client: Queryable, rootId: string, workerId: string): Promise<void> {
  await client.query(
    `UPDATE runs SET claimed_by = NULL WHERE claimed_by = $2 AND root_run_id = $1 AND parent_run_id IS NOT NULL AND status = 'Running'`,
    [rootId, workerId],
  );
}

/** Lets runs whose wait is over wait for a slot. Returns how many, and in how many milliseconds the next one is due. */
export async function wakeRuns({
  pool,
  clock,
}: Pick<Services, "pool" | "clock">): Promise<{ woken: number; nextMs: number | null }> {
  const { rows } = await pool.query<{ woken: number; nextMs: number | null }>({
    name: "wake-runs",
    text: `
    WITH moment AS (SELECT coalesce($1, clock_timestamp()) AS now), woken AS (
      UPDATE runs SET wake_at = NULL
      WHERE status IN ('Pending', 'Running') AND wake_at IS NOT NULL AND wake_at <= (SELECT now FROM moment) RETURNING id)
    SELECT (SELECT count(*) FROM woken)::int AS woken,
           (SELECT ceil(extract(epoch FROM min(wake_at) - (SELECT now FROM moment)) * 1000)::float8 FROM runs
            WHERE status IN ('Pending', 'Running') AND wake_at IS NOT NULL AND wake_at > (SELECT now FROM moment)) AS "nextMs"`,
    values: [clock.forDatabase()],
  });
  return rows[0] ?? { woken: 0, nextMs: null };
}

/** Whether any run waits for a slot. */
export async function anyWaiting(client: Queryable): Promise<boolean> {
  const { rows } = await client.query({
    name: "any-waiting",
    text: `SELECT 1 FROM runs WHERE ${WAITING} LIMIT 1`,
  });
  return rows.length > 0;
}

/** How many waiting runs of each organization its plan allows to execute; at most 100 of one are counted. */
export async function waitingShares(client: Queryable): Promise<Map<string, number>> {
  const { rows } = await client.query<{ organizationId: string; waiting: number }>(
    `WITH RECURSIVE waiting AS (
       (SELECT organization_id FROM runs WHERE ${WAITING} ORDER BY organization_id LIMIT 1)
       UNION ALL
       SELECT (SELECT r.organization_id FROM runs r WHERE ${WAITING} AND r.organization_id > w.organization_id ORDER BY 1 LIMIT 1)
       FROM waiting w WHERE w.organization_id IS NOT NULL
     )
     SELECT o.id AS "organizationId", least(p.concurrency - o.in_flight, (
              SELECT count(*) FROM (SELECT FROM runs WHERE organization_id = o.id AND ${WAITING} LIMIT 100) q))::int AS waiting
     FROM waiting w JOIN organizations o ON o.id = w.organization_id JOIN plans p ON p.organization_id = o.id
     WHERE o.in_flight < p.concurrency`,
  );
  return new Map(rows.map(({ organizationId, waiting }) => [organizationId, waiting]));
}

/** How many runs of each organization have a slot, in all processes and on an Inngest server. */
export async function runsInFlight(client: Queryable): Promise<Map<string, number>> {
  const { rows } = await client.query<{ organizationId: string; running: number }>(
    `SELECT id AS "organizationId", in_flight AS running FROM organizations WHERE in_flight > 0`,
  );
  return new Map(rows.map(({ organizationId, running }) => [organizationId, running]));
}

/** Runs that wait for a slot; the condition of the index `runs_waiting`. */
const WAITING = `status IN ('Pending', 'Running') AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL`;
