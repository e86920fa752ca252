import { z } from "zod";
import { RUN_KINDS } from "@/server/contract/enums";
import { defineQuery, isOpenSql } from "@/server/db/statement";
import { transact } from "@/server/db/transaction";
import type { Admitted } from "@/server/runs/engine/claim";
import type { Services } from "@/server/services";

/** Runs that were handed over to an Inngest server which does not call them. */

/** A run that was handed over and not called for this long may be lost. */
const LOST_AFTER_MS = 30_000;
/** After this delay, and each time again, a new event hands it over: a server ignores a repeated event id. */
const NEW_EVENT_EVERY_MS = 120_000;
const BATCH = 500;

/** The condition of a lost run, with the bounds of `lostOutside`. */
const LOST = `${isOpenSql()} AND admitted_at NOT BETWEEN $1 AND $2 AND claimed_by IS NULL AND parent_run_id IS NULL`;

/** A hand-over in the future counts as old: the clock was set back. */
function lostOutside(now: number): [Date, Date] {
  return [new Date(now - LOST_AFTER_MS), new Date(now + LOST_AFTER_MS)];
}

const FIND_LOST = defineQuery(
  "find-lost-runs",
  z.object({
    id: z.string(),
    kind: z.enum(RUN_KINDS),
    epoch: z.number(),
    segment: z.number(),
    since: z.date(),
  }),
  `SELECT id, kind, epoch, cardinality(yielded_at) + 1 AS segment, admitted_at AS since FROM runs
   WHERE ${LOST} ORDER BY admitted_at LIMIT $3`,
);
const LOCK_ORGANIZATIONS = defineQuery(
  "lock-organizations-of-lost-runs",
  z.object({}),
  `SELECT FROM organizations WHERE id IN (SELECT organization_id FROM runs WHERE ${LOST}) ORDER BY id FOR NO KEY UPDATE`,
);
const RELEASE_LOST = defineQuery(
  "release-lost-runs",
  z.object({ released: z.number() }),
  `WITH released AS (
     UPDATE runs SET admitted_at = NULL
     WHERE id IN (SELECT id FROM runs WHERE ${LOST} ORDER BY id LIMIT $3 FOR NO KEY UPDATE) RETURNING organization_id
   ), counted AS (
     UPDATE organizations o SET in_flight = in_flight - r.n
     FROM (SELECT organization_id, count(*)::int AS n FROM released GROUP BY 1) r WHERE o.id = r.organization_id
   )
   SELECT count(*)::int AS released FROM released`,
);

/** Finds runs to hand over again. `claimRun` lets only one of several calls take a run. */
export async function findLostRuns(services: Services): Promise<(Admitted & { eventId: string })[]> {
  const now = services.clock.now().getTime();
  const lost = await FIND_LOST(services.pool, [...lostOutside(now), BATCH]);
  return lost.map(({ since, ...run }) => {
    const round = 1 + Math.floor(Math.abs(now - since.getTime()) / NEW_EVENT_EVERY_MS);
    return { ...run, eventId: `${run.id}:${run.segment}.${run.epoch}.${round}` };
  });
}

/**
 * Puts runs that an Inngest server does not call back into the queue, because the embedded engine would never execute
 * them. Returns how many.
 */
export async function releaseLostRuns(services: Pick<Services, "pool" | "clock">): Promise<number> {
  const bounds = lostOutside(services.clock.now().getTime());
  return transact(services.pool, async (client) => {
    await LOCK_ORGANIZATIONS(client, bounds);
    const [row] = await RELEASE_LOST(client, [...bounds, BATCH]);
    return row?.released ?? 0;
  });
}
