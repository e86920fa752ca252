import { type WakeUp, wakeUpOf } from "@/server/runs/dispatch";
import { endRun } from "@/server/runs/lifecycle";
import type { Services } from "@/server/services";

/**
 * Finds and settles what engines and processes lose. The bounds are published in docs/operating.md: no run stays
 * Pending or Running past them (product.md, "Durability promises" 4).
 */

/** An admitted run that no worker has claimed for this long was lost on its way to the engine. */
const UNCLAIMED_AFTER_MS = 10_000;
/** A running run without a sign of life for this long has no worker. */
const SILENT_AFTER_MS = 60_000;
/** So long after its first wake-up, and each time again, a run is woken by a new event. */
const NEW_EVENT_EVERY_MS = 120_000;
/** How long after its deadline a run is settled for its worker. */
const DEADLINE_GRACE_MS = 30_000;
/** How long after a cancel a run is settled for its worker. */
const CANCEL_GRACE_MS = 15_000;
/** A run that could not be admitted for this long never will be. */
const LONGEST_PENDING_MS = 24 * 60 * 60 * 1000;
const BATCH = 500;

/**
 * Admitted runs that no worker has claimed: the process died between the commit and the hand-over, or the engine
 * lost the event. At first they are woken by the event that may have been lost on the way, then by new ones: what an
 * engine took it takes no second time, though it may have lost it. Only one worker gets the run (`claimRun`).
 */
export async function findUnwokenRuns(services: Services): Promise<WakeUp[]> {
  const { rows } = await services.pool.query<SilentRun>(
    `SELECT id, kind, epoch, admitted_at AS since FROM runs
     WHERE status IN ('Pending', 'Running') AND heartbeat_at IS NULL AND (admitted_at < $1 OR admitted_at > $2)
       AND parent_run_id IS NULL
     ORDER BY id LIMIT $3`,
    [before(services, UNCLAIMED_AFTER_MS), before(services, -SILENT_AFTER_MS), BATCH],
  );
  return rows.map((run) => wakeUp(services, run));
}

/**
 * Running runs whose worker has gone silent, with the engine's run that had them: the engine may know whether it will
 * come back to it. A sign of life from the future is none: a machine's clock was put back.
 */
export async function findOverdueRuns(
  services: Services,
): Promise<(WakeUp & { engineRunId: string | null })[]> {
  const { rows } = await services.pool.query<SilentRun & { claimed_by: string | null }>(
    `SELECT id, kind, epoch, claimed_by, heartbeat_at AS since FROM runs
     WHERE status = 'Running' AND (heartbeat_at < $1 OR heartbeat_at > $2)
       AND waiting_since IS NULL AND parent_run_id IS NULL
     ORDER BY id LIMIT $3`,
    [before(services, SILENT_AFTER_MS), before(services, -SILENT_AFTER_MS), BATCH],
  );
  return rows.map((run) => ({ ...wakeUp(services, run), engineRunId: run.claimed_by }));
}

type SilentRun = { id: string; kind: "agent" | "tool"; epoch: number; since: Date };

function wakeUp(services: Services, { since, ...run }: SilentRun): WakeUp {
  const silentMs = services.clock.now().getTime() - since.getTime();
  return wakeUpOf(run, Math.max(0, Math.floor(silentMs / NEW_EVENT_EVERY_MS)));
}

type OverdueRun = { id: string; by: string | null; deadline_seconds: number; started: boolean };

/**
 * Ends runs past their deadline, runs whose cancel nobody carried out, and runs that waited for admission too long.
 * One that cannot be ended is logged and does not keep the others waiting.
 */
export async function settleOverdueRuns(services: Services): Promise<void> {
  const { rows } = await services.pool.query<OverdueRun>(
    `SELECT id, CASE WHEN cancel_requested_at < $1 THEN coalesce(cancelled_by, 'a user') END AS by,
            deadline_seconds, started_at IS NOT NULL AS started
     FROM runs
     WHERE status IN ('Pending', 'Running') AND parent_run_id IS NULL AND waiting_since IS NULL
       AND (cancel_requested_at < $1 OR (status = 'Pending' AND created_at < $2)
            OR started_at + make_interval(secs => deadline_seconds) < $3)
     ORDER BY id LIMIT $4`,
    [
      before(services, CANCEL_GRACE_MS),
      before(services, LONGEST_PENDING_MS),
      before(services, DEADLINE_GRACE_MS),
      BATCH,
    ],
  );
  for (const run of rows) {
    try {
      await settle(services, run);
    } catch (error) {
      services.log.error("an overdue run could not be settled", { runId: run.id, error });
    }
  }
}

async function settle(services: Services, run: OverdueRun): Promise<void> {
  if (run.by !== null) {
    await endRun(services, run.id, { status: "Cancelled", by: run.by });
  } else if (run.started) {
    const message = `The run passed its deadline of ${run.deadline_seconds} seconds.`;
    const outcome = { status: "Failed", code: "deadline_exceeded", message } as const;
    await endRun(services, run.id, outcome, { from: "Running" });
  } else {
    const message = "The run waited 24 hours for a place and was given up.";
    const outcome = { status: "Failed", code: "not_admitted", message } as const;
    await endRun(services, run.id, outcome, { from: "Pending" });
  }
}

function before(services: Services, ms: number): Date {
  return new Date(services.clock.now().getTime() - ms);
}
