import { Prisma } from "@/server/base/db/generated/client";
import { isOpenSql } from "@/server/base/db/statement";

/**
 * All runs; or `run_index`, ended runs in its queue, and open runs. A statement that reads the last three finds
 * each run.
 */

const OWN_CREDITS =
  "CASE WHEN r.finished_at IS NULL THEN (SELECT f.credits FROM open_run_figures(r.id, true) f) ELSE r.credits_used END";

/** The credits of a run `r` and all runs below it so far, as lists show and filter them. */
export const CREDITS_OF_TREE = `CASE WHEN EXISTS (SELECT FROM runs c WHERE c.parent_run_id = r.id) THEN (
  WITH RECURSIVE tree AS (
    SELECT r.id, r.credits_used, r.finished_at
    UNION ALL
    SELECT c.id, c.credits_used, c.finished_at FROM runs c JOIN tree ON c.parent_run_id = tree.id
  )
  SELECT sum(coalesce(f.credits, tree.credits_used))
  FROM tree CROSS JOIN LATERAL open_run_figures(tree.id, tree.finished_at IS NULL) f)
  ELSE ${OWN_CREDITS} END`;

/** A started run `r` that waits for a slot. */
export const IS_WAITING = "(r.status = 'Running' AND r.admitted_at IS NULL AND r.wake_at IS NULL)";

// An open run's duration counts until `now`, and its usage is in its journal.
const facetColumns = (now: Date) => Prisma.sql`
  r.kind, r.status, r.source, coalesce(r.agent_id, r.tool_id) AS target_id,
  coalesce(r.trigger_id, r.schedule_id) AS trigger_id, r.api_key_id, r.user_id, r.created_at,
  extract(epoch FROM coalesce(r.finished_at, ${now}::timestamptz) - r.started_at) * 1000 AS duration_ms,
  CASE WHEN r.finished_at IS NULL THEN (SELECT f.input_tokens::bigint + f.output_tokens FROM open_run_figures(r.id, true) f)
       ELSE r.input_tokens::bigint + r.output_tokens END AS tokens,
  ${Prisma.raw(CREDITS_OF_TREE)} AS credits, ${Prisma.raw(IS_WAITING)} AS waiting,
  r.input, r.output, r.error_message, r.finished_at, r.metadata`;

/** All runs, for a FROM clause. Only the organization and ranges of ids are indexed. */
export const allRuns = (now: Date) =>
  Prisma.sql`(SELECT r.id, r.organization_id, ${facetColumns(now)} FROM runs r)`;

/** The entries of `run_index`, for a FROM clause. */
export const indexedRuns = Prisma.sql`(
  SELECT run_id AS id, organization_id, kind, status, source, target_id, trigger_id, api_key_id, user_id, created_at,
    duration_ms, tokens, credits, words
  FROM run_index)`;

export const openRuns = (now: Date) =>
  Prisma.sql`(SELECT r.id, r.organization_id, ${facetColumns(now)} FROM runs r WHERE ${Prisma.raw(isOpenSql("r"))})`;

/** Sorted as requested: PostgreSQL then stops at the first matches. */
// OFFSET 0 forces one lookup per queued run. The queue changes faster than its statistics, which could make PostgreSQL
// read all runs.
export const queuedRuns = (now: Date, order = Prisma.sql`DESC`) => Prisma.sql`(
  SELECT q.run_id AS id, q.organization_id, ${facetColumns(now)}
  FROM (SELECT run_id, organization_id FROM run_index_queue ORDER BY run_id ${order}) q
  CROSS JOIN LATERAL (SELECT * FROM runs WHERE id = q.run_id OFFSET 0) r)`;
