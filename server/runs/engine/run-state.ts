import { isOpenSql, type Queryable, transact } from "@/server/db/sql";
import type { Services } from "@/server/services";

/** The states of runs between start and end, for the dispatcher. Each change is a compare-and-set. */

/** The root runs of a worker. */
export async function findClaimedRuns({ pool }: Pick<Services, "pool">, workerId: string) {
  const { rows } = await pool.query<{ id: string; epoch: number }>({
    name: "find-claimed-runs",
    text: `SELECT id, epoch FROM runs WHERE claimed_by = $1 AND ${isOpenSql()} AND parent_run_id IS NULL`,
    values: [workerId],
  });
  return rows;
}

/** Open runs that are to be cancelled, by whom, and whether they have a worker. */
export async function findCancelledRuns(client: Queryable) {
  const { rows } = await client.query<{ id: string; by: string; claimed: boolean }>({
    name: "look-for-cancels",
    text: `SELECT id, coalesce(cancelled_by, 'a user') AS by, claimed_by IS NOT NULL AS claimed FROM runs
           WHERE ${isOpenSql()} AND cancel_requested_at IS NOT NULL ORDER BY id LIMIT 500`,
  });
  return rows;
}

/** How many runs were handed over to an Inngest server that has not called them yet. */
export async function countHandedOver(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM runs WHERE ${isOpenSql()} AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL`,
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
       WHERE runs.id = claim.id AND runs.epoch = claim.epoch AND claimed_by = $1 AND ${isOpenSql()}
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

export async function releaseChildren(client: Queryable, rootId: string, workerId: string): Promise<void> {
  await client.query(
    `UPDATE runs SET claimed_by = NULL WHERE claimed_by = $2 AND root_run_id = $1 AND parent_run_id IS NOT NULL AND status = 'Running'`,
    [rootId, workerId],
  );
}

/** Lets runs whose wait is over wait for a slot. Returns how many, and in how many milliseconds the next one is due. */
export async function wakeRuns({ pool, clock }: Pick<Services, "pool" | "clock">) {
  const { rows } = await pool.query<{ woken: number; nextMs: number | null }>({
    name: "wake-runs",
    text: `
    WITH moment AS (SELECT coalesce($1, clock_timestamp()) AS now), woken AS (
      UPDATE runs SET wake_at = NULL
      WHERE ${isOpenSql()} AND wake_at IS NOT NULL AND wake_at <= (SELECT now FROM moment) RETURNING id)
    SELECT (SELECT count(*) FROM woken)::int AS woken,
           (SELECT ceil(extract(epoch FROM min(wake_at) - (SELECT now FROM moment)) * 1000)::float8 FROM runs
            WHERE ${isOpenSql()} AND wake_at IS NOT NULL AND wake_at > (SELECT now FROM moment)) AS "nextMs"`,
    values: [clock.forDatabase()],
  });
  return rows[0] ?? { woken: 0, nextMs: null };
}

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
const WAITING = `${isOpenSql()} AND admitted_at IS NULL AND parent_run_id IS NULL AND wake_at IS NULL`;
