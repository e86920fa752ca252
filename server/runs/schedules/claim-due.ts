import { z } from "zod";
import { defineCommand, defineQuery } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import type { Services } from "@/server/runs/services";
import { planTicks } from "./plan";
import { RAISE_MISSED } from "./ticks";

const BATCH = 50;
const BROKEN_FOR_MS = 3_600_000;

// Another process has the locked ones. The lock lets runs refer to their schedule.
const CLAIM = defineQuery(
  "claim-due-schedules",
  z.object({
    id: z.string(),
    orgId: z.string(),
    cron: z.string(),
    timeZone: z.string(),
    nextAt: z.date(),
    catchUpSeconds: z.number(),
    jitterSeconds: z.number(),
  }),
  `SELECT id, organization_id AS "orgId", cron, time_zone AS "timeZone", next_at AS "nextAt",
          catch_up_seconds AS "catchUpSeconds", jitter_seconds AS "jitterSeconds"
   FROM schedules WHERE next_at <= $1 ORDER BY next_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
);

const INSERT_TICKS = defineCommand(
  "insert-schedule-ticks",
  `WITH ticks AS (
   INSERT INTO schedule_ticks (schedule_id, due_at, organization_id, attempt_at, outcome, code, reason, decided_at)
   SELECT schedule, due, org, attempt, CASE WHEN code IS NOT NULL THEN 'missed'::tick_outcome END, code, reason,
          CASE WHEN code IS NOT NULL THEN $2::timestamptz END
   FROM json_to_recordset($1) AS t (schedule uuid, due timestamptz, org uuid, attempt timestamptz, code text, reason text)
   ON CONFLICT (schedule_id, due_at) DO NOTHING RETURNING *)
   ${RAISE_MISSED}`,
);

const ADVANCE = defineCommand(
  "advance-schedules",
  `UPDATE schedules s SET next_at = n.next FROM json_to_recordset($1) AS n (id uuid, next timestamptz) WHERE s.id = n.id`,
);

/**
 * Writes a tick for each due time of the due schedules, and their next times, in one transaction. Returns how many
 * schedules were due.
 */
export async function claimDueSchedules({ pool, clock, log }: Services): Promise<number> {
  const now = clock.now();
  return transact(pool, async (client) => {
    const due = await CLAIM(client, [now, BATCH]);
    if (due.length === 0) return 0;
    const ticks: object[] = [];
    const advanced = due.map((schedule) => {
      const { id, orgId } = schedule;
      try {
        const planned = planTicks(schedule, now);
        for (const { dueAt, attemptAt, missed } of planned.ticks) {
          ticks.push({ schedule: id, org: orgId, due: dueAt, attempt: attemptAt, ...missed });
        }
        return { id, next: planned.nextAt };
      } catch (error) {
        // Another version of Node may not know the time zone.
        log.error("Could not compute the due times of a schedule; retrying in 1 h", {
          schedule: id,
          error,
        });
        return { id, next: new Date(now.getTime() + BROKEN_FOR_MS) };
      }
    });
    await INSERT_TICKS(client, [JSON.stringify(ticks), now]);
    await ADVANCE(client, [JSON.stringify(advanced)]);
    return due.length;
  });
}
