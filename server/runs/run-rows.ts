import { Prisma } from "@/server/db/generated/client";

/**
 * The three sources that filters read, under the same column names (see `runConditions`): all runs, the entries of
 * `run_index`, and the runs that it does not hold yet. A statement that reads the last two finds each run once.
 */

/** While a run is in progress, its duration counts until `now`. */
const facetsOf = (now: Date) => Prisma.sql`
  r.kind, r.status, r.source, coalesce(r.agent_id, r.tool_id) AS target_id, r.trigger_id, r.api_key_id, r.user_id, r.created_at,
  extract(epoch FROM coalesce(r.finished_at, ${now}::timestamptz) - r.started_at) * 1000 AS duration_ms,
  r.input_tokens::bigint + r.output_tokens AS tokens, r.credits_used AS credits,
  r.input, r.output, r.error_message, r.finished_at`;

/** All runs, as something to select from. Only the organization and ranges of ids are indexed. */
export const allRuns = (now: Date) =>
  Prisma.sql`(SELECT r.id, r.organization_id, ${facetsOf(now)} FROM runs r)`;

/** The entries of `run_index`, as something to select from. */
export const indexedRuns = Prisma.sql`(
  SELECT run_id AS id, organization_id, kind, status, source, target_id, trigger_id, api_key_id, user_id, created_at,
    duration_ms, tokens, credits, words
  FROM run_index)`;

const openRuns = (now: Date) =>
  Prisma.sql`SELECT r.id, r.organization_id, ${facetsOf(now)} FROM runs r WHERE r.status IN ('Pending', 'Running')`;

// OFFSET 0 keeps to one look-up for each queued run. The queue's size changes faster than its statistics, by which PostgreSQL
// might read all runs instead.
const queuedRuns = (now: Date) => Prisma.sql`
  SELECT q.run_id AS id, q.organization_id, ${facetsOf(now)} FROM run_index_queue q
  CROSS JOIN LATERAL (SELECT * FROM runs WHERE id = q.run_id OFFSET 0) r`;

/**
 * The runs that `run_index` does not hold yet, as something to select from: open ones, and ended ones in its queue. Either
 * may be left out.
 */
export function unindexedRuns(now: Date, { open = true, ended = true } = {}): Prisma.Sql {
  const parts = [...(open ? [openRuns(now)] : []), ...(ended ? [queuedRuns(now)] : [])];
  return Prisma.sql`(${Prisma.join(parts, " UNION ALL ")})`;
}
