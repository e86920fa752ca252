import { z } from "zod";
import { isUnavailable } from "@/server/base/db/outage";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import type { TraceSettings } from "@/server/base/settings/env";
import type { Services } from "@/server/services";
import { readSpans } from "./read-spans";
import { REQUEST_TIMEOUT_MS, sendSpans } from "./send-spans";

/**
 * Sends ended runs as traces to the operator's collector, after their rows were committed. The job that indexes ended
 * runs queues them. A run leaves the queue when the collector has taken it, rejects it for good, or after a day.
 */

/** Runs that one call takes from the queue. */
export const TRACE_BATCH = 20;
const GIVE_UP_HOURS = 24;
// A batch whose process dies becomes due again. Longer than a request, and the reading of what it sends.
const LEASE_SECONDS = 15;
const EXTEND_AFTER_MS = 1_000 * LEASE_SECONDS - REQUEST_TIMEOUT_MS - 2_000;

const TAKE = defineQuery(
  "take-traces",
  z.object({ id: z.string(), overdue: z.boolean() }),
  `UPDATE trace_queue SET attempts = attempts + 1,
     next_at = coalesce($1, clock_timestamp())
       + least(300, ${LEASE_SECONDS} * 2 ^ least(attempts, 10)) * interval '1 second'
   WHERE run_id = ANY (ARRAY(
     SELECT run_id FROM trace_queue WHERE next_at <= coalesce($1, clock_timestamp())
     ORDER BY next_at LIMIT ${TRACE_BATCH} FOR UPDATE SKIP LOCKED))
   RETURNING run_id AS id, queued_at < coalesce($1, clock_timestamp()) - interval '${GIVE_UP_HOURS} hours' AS overdue`,
);
const EXTEND = defineCommand(
  "extend-traces",
  `UPDATE trace_queue
   SET next_at = greatest(next_at, coalesce($2, clock_timestamp()) + interval '${LEASE_SECONDS} seconds')
   WHERE run_id = ANY ($1::uuid[])`,
);
const REMOVE = defineCommand("remove-traces", "DELETE FROM trace_queue WHERE run_id = ANY ($1::uuid[])");

/** `isFinal`: trying again does not help. `isOfRun`: one run may keep the others from being exported. */
const ISSUES = {
  unavailable: { message: "Could not export traces; trying again", isFinal: false, isOfRun: false },
  unreadable: { message: "Could not read traces; trying again", isFinal: false, isOfRun: true },
  rejected: { message: "The collector rejected traces", isFinal: true, isOfRun: true },
  rejectedInPart: { message: "The collector rejected spans of traces", isFinal: true, isOfRun: false },
} as const;
type Issue = { kind: keyof typeof ISSUES; error: string };
type Result = { ids: readonly string[]; issue: Issue | null };

type Facts = Pick<Services, "clock" | "log"> & { pool: Queryable };

/**
 * Exports up to `TRACE_BATCH` runs, and returns how many it took from the queue. Processes may call it at once. What
 * the collector did not take is tried again later.
 */
export async function exportTraces(
  services: Facts,
  settings: TraceSettings,
  shouldContinue: () => boolean = () => true,
): Promise<number> {
  let leasedAt = services.clock.monotonicMs();
  const taken = await TAKE(services.pool, [services.clock.forDatabase()]);
  if (taken.length === 0) return 0;
  const ids = taken.map(({ id }) => id);
  const overdue = new Set(taken.filter((run) => run.overdue).map(({ id }) => id));
  const mayContinue = async (): Promise<boolean> => {
    if (!shouldContinue()) return false;
    const now = services.clock.monotonicMs();
    if (now - leasedAt < EXTEND_AFTER_MS) return true;
    leasedAt = now;
    await EXTEND(services.pool, [ids, services.clock.forDatabase()]);
    return true;
  };
  const results = await exportAll({ services, settings, mayContinue }, ids);
  const isStopping = !shouldContinue();
  const done = results.flatMap(({ ids, issue }) => {
    if (issue === null || ISSUES[issue.kind].isFinal) return ids;
    return isStopping ? [] : ids.filter((id) => overdue.has(id));
  });
  logIssues(services, results, new Set(done));
  await REMOVE(services.pool, [done]);
  return taken.length;
}

type Export = { services: Facts; settings: TraceSettings; mayContinue: () => Promise<boolean> };

/** Exports runs at once. If one of them may prevent that, exports each run alone: its spans have the same ids again. */
async function exportAll(options: Export, ids: readonly string[]): Promise<Result[]> {
  const issue = await exportOnce(options, ids);
  if (issue === null || !ISSUES[issue.kind].isOfRun || ids.length === 1) return [{ ids, issue }];
  const results: Result[] = [];
  for (const [index, id] of ids.entries()) {
    const issue = await exportOnce(options, [id]);
    const isUnreachable = issue?.kind === "unavailable";
    results.push({ ids: isUnreachable ? ids.slice(index) : [id], issue });
    if (isUnreachable) break;
  }
  return results;
}

async function exportOnce(options: Export, ids: readonly string[]): Promise<Issue | null> {
  const { services, settings, mayContinue } = options;
  try {
    return await sendSpans(readSpans(services.pool, ids, settings), settings, mayContinue);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return { kind: "unreadable", error: error instanceof Error ? error.message : String(error) };
  }
}

function logIssues({ log }: Facts, results: readonly Result[], done: ReadonlySet<string>): void {
  for (const [kind, { message }] of Object.entries(ISSUES)) {
    const found = results.filter(({ issue }) => issue?.kind === kind);
    if (found.length === 0) continue;
    const runs = found.flatMap(({ ids }) => ids);
    const dropped = runs.filter((id) => done.has(id));
    log.warn(message, { error: found[0]?.issue?.error, runs: runs.length, dropped: dropped.length });
  }
}
