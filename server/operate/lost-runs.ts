import { z } from "zod";
import type { Admitted } from "@/server/runs/engine/claim";
import type { Services } from "@/server/services";

/** Runs that an Inngest server was given and does not call. */

/** A run that was handed over and has not been called for this long may be lost. */
const LOST_AFTER_MS = 30_000;
/** So long after that, and each time again, it is handed over by a new event: a server takes no event id twice. */
const NEW_EVENT_EVERY_MS = 120_000;
const BATCH = 500;

const row = z.object({
  id: z.string(),
  kind: z.enum(["agent", "tool"]),
  epoch: z.number(),
  segment: z.number(),
  since: z.date(),
});

/**
 * Finds runs to hand over again. Only one of several calls gets a run: `claimRun` decides. A hand-over in the future counts
 * as an old one, because the clock was put back since.
 */
export async function findLostRuns(services: Services): Promise<(Admitted & { eventId: string })[]> {
  const now = services.clock.now().getTime();
  const { rows } = await services.pool.query(
    `SELECT id, kind, epoch, cardinality(yielded_at) + 1 AS segment, admitted_at AS since FROM runs
     WHERE status IN ('Pending', 'Running') AND admitted_at NOT BETWEEN $1 AND $2 AND claimed_by IS NULL AND parent_run_id IS NULL
     ORDER BY admitted_at LIMIT $3`,
    [new Date(now - LOST_AFTER_MS), new Date(now + LOST_AFTER_MS), BATCH],
  );
  return z
    .array(row)
    .parse(rows)
    .map(({ since, ...run }) => {
      const round = 1 + Math.floor(Math.abs(now - since.getTime()) / NEW_EVENT_EVERY_MS);
      return { ...run, eventId: `${run.id}:${run.segment}.${run.epoch}.${round}` };
    });
}
