import { z } from "zod";
import { defineCommand, defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { CREDITS_OF_TREE } from "../run-rows";

/**
 * Starts and ends write few indexes of `runs`; this job adds the rest later. An ended run is always in exactly one
 * of `run_index_queue` and `run_index`.
 */

/** Runs that one statement indexes. The longest texts take about 6 ms each, and the pool's statement timeout applies. */
export const INDEX_BATCH = 250;

/** Inserts index entries for the runs of a condition on `r`, which is appended. The runs below an ended one have ended. */
export const FILL_INDEX = `
  INSERT INTO run_index (run_id, organization_id, kind, status, source, target_id, trigger_id,
    api_key_id, user_id, created_at, duration_ms, tokens, credits, words)
  SELECT r.id, r.organization_id, r.kind, r.status, r.source, coalesce(r.agent_id, r.tool_id),
    coalesce(r.trigger_id, r.schedule_id),
    r.api_key_id, r.user_id, r.created_at, (extract(epoch FROM r.finished_at - r.started_at) * 1000)::bigint,
    r.input_tokens::bigint + r.output_tokens, ${CREDITS_OF_TREE},
    concat_ws(' ', nullif(run_keys(r.input, r.output, r.error_message), ''), metadata_words(r.metadata))
  FROM runs r`;

// `FOR KEY SHARE`: a run that retention deletes at this moment is left out, instead of failing the batch.
const INDEX = defineQuery(
  "index-ended-runs",
  z.object({ taken: z.number() }),
  `WITH taken AS (
    DELETE FROM run_index_queue WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM run_index_queue LIMIT $1 FOR UPDATE SKIP LOCKED
    )) RETURNING run_id, organization_id
  ), traced AS (
    INSERT INTO trace_queue (run_id, organization_id, queued_at, next_at)
    SELECT DISTINCT run_id, organization_id, coalesce($3, now()), coalesce($3, now()) FROM taken WHERE $2
    ON CONFLICT (run_id) DO NOTHING
  ), indexed AS (
    ${FILL_INDEX} WHERE r.id IN (SELECT run_id FROM taken) AND r.finished_at IS NOT NULL ORDER BY r.id
    FOR KEY SHARE OF r
    ON CONFLICT (run_id) DO NOTHING
  )
  SELECT count(*)::int AS taken FROM taken`,
);

// Every search reads the pending list of new entries. Sorting it in once costs half as much as leaving it to
// the inserts.
const SORT_IN_NEW_ENTRIES = defineCommand(
  "clean-pending-list",
  "SELECT gin_clean_pending_list('run_index_terms')",
);

/**
 * Indexes up to `limit` queued runs in one transaction and returns how many; if fewer, the queue is empty or other
 * processes hold the rest. Processes may call it at once; a batch of one that dies stays queued. If the operator exports
 * traces, it queues the runs for that.
 */
export async function indexEndedRuns(
  { pool, env, clock }: Pick<Services, "pool" | "env" | "clock">,
  limit: number = INDEX_BATCH,
): Promise<number> {
  const [{ taken } = { taken: 0 }] = await INDEX(pool, [
    limit,
    env.traces !== undefined,
    clock.forDatabase(),
  ]);
  if (taken > 0) await SORT_IN_NEW_ENTRIES(pool);
  return taken;
}
