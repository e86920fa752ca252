import { z } from "zod";
import { transact } from "@/server/db/sql";
import type { Services } from "@/server/services";

/** Only one process admits at a time: a plan's concurrency is exact. */
const ADMISSION_LOCK = 7_305_001;

/** A run to be woken on the engine, by an event that the engine takes once; it is good for the `epoch` that it was made in. */
export type WakeUp = { runId: string; kind: "agent" | "tool"; epoch: number; eventId: string };

/** The wake-up of a run that was claimed `epoch` times; each round is a new event to the engine. */
export function wakeUpOf(
  { id, kind, epoch }: { id: string; kind: WakeUp["kind"]; epoch: number },
  round = 0,
): WakeUp {
  return { runId: id, kind, epoch, eventId: epoch + round === 0 ? id : `${id}:${epoch}.${round}` };
}

/**
 * Runs without a place, of every organization, oldest first, as far as its plan's concurrency has room; taken in turn,
 * those with the fewest runs in flight first, so that a long queue delays nobody else (product.md, "Durability
 * promises" 6). No organization is admitted further while `$2` runs of it, and of others with no more in flight, have not been
 * taken up: a newcomer waits behind so many at most, and is itself kept back by nobody's queue. Waiting runs and
 * child runs hold no place.
 */
const ADMIT = `
  WITH RECURSIVE organizations_waiting AS (
    (SELECT organization_id FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NULL
     ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT r.organization_id FROM runs r
            WHERE r.status IN ('Pending', 'Running') AND r.admitted_at IS NULL AND r.organization_id > w.organization_id
            ORDER BY r.organization_id LIMIT 1)
    FROM organizations_waiting w WHERE w.organization_id IS NOT NULL
  ), in_flight AS (
    SELECT organization_id, count(*) AS runs,
           sum(count(*) FILTER (WHERE heartbeat_at IS NULL)) OVER (ORDER BY count(*)) AS not_taken_up
    FROM runs
    WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND waiting_since IS NULL AND parent_run_id IS NULL
    GROUP BY organization_id
  ), room AS (
    SELECT w.organization_id, coalesce(own.runs, 0) AS in_flight,
           least(p.concurrency - coalesce(own.runs, 0), $2 - coalesce(own.not_taken_up, 0)) AS places
    FROM organizations_waiting w JOIN plans p ON p.organization_id = w.organization_id
    LEFT JOIN in_flight own ON own.organization_id = w.organization_id
  ), candidates AS (
    SELECT r.id, room.in_flight + row_number() OVER (PARTITION BY room.organization_id ORDER BY r.id) AS turn
    FROM room CROSS JOIN LATERAL (
      SELECT q.id FROM runs q
      WHERE q.organization_id = room.organization_id AND q.status IN ('Pending', 'Running') AND q.admitted_at IS NULL
      ORDER BY q.id LIMIT greatest(0, room.places)
    ) AS r
  ), chosen AS (
    SELECT id FROM candidates ORDER BY turn, id LIMIT $2
  )
  UPDATE runs SET admitted_at = $1 FROM chosen
  WHERE runs.id = chosen.id AND runs.status IN ('Pending', 'Running')
  RETURNING runs.id, runs.kind, runs.epoch`;

const admittedRow = z.object({ id: z.string(), kind: z.enum(["agent", "tool"]), epoch: z.int() });

/**
 * Admits runs that have no place as far as plans allow and until `backlog` runs are admitted but not yet taken up, and returns
 * them to be woken. If the process dies before the engine has heard of them, the reconciler hands them over again.
 */
export async function admitRuns(services: Services, backlog: number): Promise<WakeUp[]> {
  return transact(services.pool, async (client) => {
    await client.query("SELECT pg_advisory_xact_lock($1)", [ADMISSION_LOCK]);
    const { rows } = await client.query(ADMIT, [services.clock.now(), backlog]);
    return z
      .array(admittedRow)
      .parse(rows)
      .map((run) => wakeUpOf(run));
  });
}
