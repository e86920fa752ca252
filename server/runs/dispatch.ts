import { transact } from "@/server/db/sql";
import type { Services } from "@/server/services";

/** Only one process admits at a time: a plan's concurrency is exact. */
const ADMISSION_LOCK = 7_305_001;

/** A run to be woken on the engine, by an event that the engine takes once. */
export type WakeUp = { runId: string; kind: "agent" | "tool"; eventId: string };

/**
 * Pending runs of every organization, oldest first, as far as its plan's concurrency has room; taken in turn, those
 * with the fewest runs in flight first, so that a long queue delays nobody else (product.md, "Durability
 * promises" 6). No more are admitted than the engine takes up at once: a newcomer waits behind `$2` runs at most,
 * whoever they belong to. Waiting runs and child runs hold no place.
 */
const ADMIT = `
  WITH RECURSIVE organizations_waiting AS (
    (SELECT organization_id FROM runs WHERE status = 'Pending' AND admitted_at IS NULL ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.organization_id FROM runs r
            WHERE r.status = 'Pending' AND r.admitted_at IS NULL AND r.organization_id > w.organization_id
            ORDER BY r.organization_id LIMIT 1)
    FROM organizations_waiting w WHERE w.organization_id IS NOT NULL
  ), room AS (
    SELECT greatest(0, $2 - count(*)) AS places FROM runs
    WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND status = 'Pending' AND parent_run_id IS NULL
  ), candidates AS (
    SELECT r.id, f.in_flight + row_number() OVER (PARTITION BY w.organization_id ORDER BY r.id) AS turn
    FROM room
    CROSS JOIN organizations_waiting w
    JOIN plans p ON p.organization_id = w.organization_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS in_flight FROM runs f
      WHERE f.organization_id = w.organization_id AND f.status IN ('Pending', 'Running')
        AND f.admitted_at IS NOT NULL AND f.waiting_since IS NULL AND f.parent_run_id IS NULL
    ) AS f
    CROSS JOIN LATERAL (
      SELECT q.id FROM runs q
      WHERE q.organization_id = w.organization_id AND q.status = 'Pending' AND q.admitted_at IS NULL
      ORDER BY q.id LIMIT least(greatest(0, p.concurrency - f.in_flight), room.places)
    ) AS r
    WHERE w.organization_id IS NOT NULL
  ), chosen AS (
    SELECT id FROM candidates ORDER BY turn, id LIMIT (SELECT places FROM room)
  )
  UPDATE runs SET admitted_at = $1 FROM chosen WHERE runs.id = chosen.id AND runs.status = 'Pending'
  RETURNING runs.id AS "runId", runs.kind, runs.id::text AS "eventId"`;

/**
 * Admits pending runs as far as plans allow and until `backlog` runs are admitted but not yet taken up, and returns
 * them to be woken. If the process dies before the engine has heard of them, the reconciler hands them over again.
 */
export async function admitRuns(services: Services, backlog: number): Promise<WakeUp[]> {
  return transact(services.pool, async (client) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [ADMISSION_LOCK]);
    const { rows } = await client.query<WakeUp>(ADMIT, [services.clock.now(), backlog]);
    return rows;
  });
}
