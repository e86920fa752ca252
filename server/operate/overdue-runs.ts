import { z } from "zod";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { MAX_PENDING_HOURS } from "@/server/contract/limits";
import type { Outcome } from "@/server/runs/engine/claimed-run";
import { endUnclaimedRun } from "@/server/runs/engine/end-run";
import type { Services } from "@/server/services";

/** Ends runs without a worker within the bounds of docs/operating.md. A living worker ends its own runs. */

/** After the deadline of a run without a worker. */
const DEADLINE_GRACE_SECONDS = 30;
const BATCH = 500;

const overdueRun = z.object({
  id: z.string(),
  by: z.string().nullable(),
  deadlineSeconds: z.number(),
  started: z.boolean(),
});
// Materialized: PostgreSQL would read ended runs by the primary key until it has found as many as the limit.
const FIND_OVERDUE = defineQuery(
  "find-overdue-runs",
  overdueRun,
  `WITH overdue AS MATERIALIZED (
     SELECT id, CASE WHEN cancel_requested_at IS NOT NULL THEN coalesce(cancelled_by, 'a user') END AS by,
            deadline_seconds AS "deadlineSeconds", started_at IS NOT NULL AS started
     FROM runs
     WHERE ${isOpenSql()} AND claimed_by IS NULL AND parent_run_id IS NULL
       AND (cancel_requested_at IS NOT NULL
            OR (status = 'Pending' AND created_at + make_interval(secs => $2) < coalesce($1, clock_timestamp()))
            OR started_at + make_interval(secs => deadline_seconds + $3) < coalesce($1, clock_timestamp())))
   SELECT id, by, "deadlineSeconds", started FROM overdue ORDER BY id LIMIT $4`,
);

/** Ends overdue runs, and returns how many. One that cannot be ended is logged and does not stop the others. */
export async function endOverdueRuns(services: Services): Promise<number> {
  const bounds = [MAX_PENDING_HOURS * 3600, DEADLINE_GRACE_SECONDS, BATCH];
  const overdue = await FIND_OVERDUE(services.pool, [services.clock.forDatabase(), ...bounds]);
  let ended = 0;
  for (const run of overdue) {
    try {
      await endUnclaimedRun(services, run.id, outcomeOf(run));
      ended += 1;
    } catch (error) {
      services.log.error("Could not end an overdue run", { runId: run.id, error });
    }
  }
  return ended;
}

function outcomeOf({ by, deadlineSeconds, started }: z.infer<typeof overdueRun>): Outcome {
  if (by !== null) return { status: "Cancelled", by };
  if (started) {
    const message = `The run passed its deadline of ${deadlineSeconds} seconds.`;
    return { status: "Failed", code: "deadline_exceeded", message };
  }
  const message = `The run waited ${MAX_PENDING_HOURS} hours for a slot and was ended.`;
  return { status: "Failed", code: "not_admitted", message };
}
