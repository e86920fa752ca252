import { z } from "zod";
import { DAY_MS } from "@/server/base/clock";
import { defineCommand, defineQuery, isOpenSql } from "@/server/base/db/statement";
import { LOCKS, suspendSocketTimeout, withAdvisoryLock } from "@/server/base/db/transaction";
import type { Services } from "@/server/runs/services";

/**
 * Stores figures by hour and day of creation, so that metrics don't read every run. A range is counted once,
 * when all its runs have ended.
 */

// A run created before an hour's end may be committed after it, and processes' clocks differ.
const SETTLED_AFTER = "10 minutes";

// Ends at the hour of the oldest open run, if any.
const FIND_UNCOUNTED = defineQuery(
  "find-uncounted-runs",
  z.object({ orgId: z.string(), since: z.date(), until: z.date() }),
  `SELECT o.id AS "orgId", stretch.since, stretch.until FROM organizations o
   LEFT JOIN run_counts_until u ON u.organization_id = o.id
   CROSS JOIN LATERAL (
     SELECT coalesce(u.until, (
         SELECT date_trunc('day', created_at, 'UTC') FROM runs WHERE organization_id = o.id ORDER BY id LIMIT 1
       )) AS since,
       date_trunc('hour', least($1::timestamptz - interval '${SETTLED_AFTER}', (
         SELECT min(created_at) FROM runs WHERE organization_id = o.id AND ${isOpenSql()}
       )), 'UTC') AS until
   ) stretch
   WHERE stretch.since < stretch.until ORDER BY o.id`,
);

const FIGURES =
  "at, dimension, subject_id, runs, completed, failed, cancelled, tokens, credits, duration_classes, duration_runs, children, drafts, draft_credits, credits_below, children_failed";
const COLUMNS = `organization_id, span, ${FIGURES}`;

// Also counts the day if the range completes it.
const COUNT = defineCommand(
  "count-settled-runs",
  `WITH hours AS (
     INSERT INTO run_counts (${COLUMNS})
     SELECT $1::uuid, 'hour', ${FIGURES}
     FROM count_runs($1::uuid, $2::timestamptz, $3::timestamptz, interval '1 hour')
   ), days AS (
     INSERT INTO run_counts (${COLUMNS})
     SELECT $1::uuid, 'day', ${FIGURES}
     FROM count_runs($1::uuid, $3::timestamptz - interval '1 day', $3::timestamptz, interval '1 day')
     WHERE date_trunc('day', $3::timestamptz, 'UTC') = $3::timestamptz
   )
   INSERT INTO run_counts_until (organization_id, until) VALUES ($1::uuid, $3::timestamptz)
   ON CONFLICT (organization_id) DO UPDATE SET until = EXCLUDED.until`,
);

const DELETE_EXPIRED = defineCommand(
  "delete-expired-counts",
  `DELETE FROM run_counts c USING plans p
   WHERE p.organization_id = c.organization_id
     AND c.at < $1::timestamptz - make_interval(days => p.retention_days + 1)`,
);

const DISABLE_TIMEOUT = defineCommand("disable-statement-timeout", "SET statement_timeout = 0");
const RESET_TIMEOUT = defineCommand("reset-statement-timeout", "RESET statement_timeout");

/**
 * Counts settled hours until `shouldContinue` returns false; deletes counts beyond the plan's retention. Returns
 * the number of ranges; null if another process counts.
 */
export async function countSettledRuns(
  services: Pick<Services, "pool" | "clock">,
  shouldContinue: () => boolean = () => true,
): Promise<number | null> {
  return withAdvisoryLock(services.pool, LOCKS.counting, async (client) => {
    // The first time, and after a day with very many runs, this takes longer than the pool's timeout.
    await DISABLE_TIMEOUT(client);
    const restoreTimeout = suspendSocketTimeout(client);
    const now = services.clock.now();
    let counted = 0;
    for (const { orgId, since, until } of await FIND_UNCOUNTED(client, [now])) {
      let from = since;
      while (from < until && shouldContinue()) {
        const midnight = new Date((Math.floor(from.getTime() / DAY_MS) + 1) * DAY_MS);
        const to = midnight < until ? midnight : until;
        await COUNT(client, [orgId, from, to]);
        from = to;
        counted += 1;
      }
    }
    await DELETE_EXPIRED(client, [now]);
    restoreTimeout();
    await RESET_TIMEOUT(client);
    return counted;
  });
}
