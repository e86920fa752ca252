import { z } from "zod";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { releaseHandedOver } from "@/server/runs/engine/run-state";
import type { Services } from "@/server/services";

// A run that was handed over for the first time and not called for this long may be lost; later ones get longer.
const LOST_AFTER_MS = 30_000;
// Each hand-over gets more time, up to this factor, so that a slow server does not lose all.
const LONGEST_FACTOR = 8;
const BATCH = 500;

const FIND_LOST = defineQuery(
  "find-lost-runs",
  z.object({ id: z.string(), handOver: z.number() }),
  `WITH moment AS (SELECT coalesce($1, clock_timestamp()) AS now)
   SELECT id, hand_over AS "handOver" FROM runs, moment
   WHERE ${isOpenSql()} AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL
     AND admitted_at NOT BETWEEN now - make_interval(secs => $2 * greatest(1, least(hand_over, $3)))
                             AND now + make_interval(secs => $4)
   ORDER BY admitted_at LIMIT $5`,
);

/**
 * Takes runs back that an Inngest server has not called for a while; they wait for a slot again. With `afterMs` 0,
 * all that it has not called. Returns how many.
 */
export async function releaseLostRuns(
  services: Pick<Services, "pool" | "clock">,
  { afterMs = LOST_AFTER_MS } = {},
): Promise<number> {
  const { pool, clock } = services;
  // A hand-over in the future counts as lost: the clock was set back.
  const bounds = [afterMs / 1000, LONGEST_FACTOR, LOST_AFTER_MS / 1000, BATCH];
  const lost = await FIND_LOST(pool, [clock.forDatabase(), ...bounds]);
  return lost.length === 0 ? 0 : releaseHandedOver(services, lost);
}
