import { z } from "zod";
import { defineCommand, defineQuery, isOpenSql } from "@/server/base/db/statement";
import { readJson } from "@/server/base/json/json";
import { mintOrgId } from "@/server/base/mint-org-id";
import { RUN_KINDS } from "@/server/contract/enums";
import { frozenPrices } from "@/server/credits/prices";
import type { Services } from "@/server/runs/services";
import { runConfiguration } from "@/server/work/agent/definition";
import { type ClaimedRun, claimedRow } from "./claimed-run";
import { isOfSuspects, type RunQueue } from "./suspects";
import { WorkerLost } from "./write/writer";

/** A run that got a slot. `handOver` counts how often an Inngest server got it. */
export type Admitted = z.infer<typeof admitted>;
const admitted = z.object({ id: z.string(), kind: z.enum(RUN_KINDS), handOver: z.number() });

const CLAIM_WAITING = defineQuery(
  "claim-waiting-runs",
  admitted,
  'SELECT run AS id, run_kind AS kind, run_hand_over AS "handOver" FROM claim_waiting_runs($1, $2, $3, $4, $5::uuid[])',
);

/**
 * Gives waiting runs slots, organizations with the fewest runs in flight first: claimed for a worker, or handed
 * over to an Inngest server without one. Throws SQL state SW001 if the worker is lost.
 */
export function admitWaitingRuns(
  services: Pick<Services, "pool" | "clock">,
  {
    worker,
    slots,
    queue = "all",
    except = [],
  }: { worker: string | null; slots: number; queue?: RunQueue; except?: readonly string[] },
): Promise<Admitted[]> {
  const values = [worker, slots, services.clock.forDatabase(), isOfSuspects(queue), except];
  return CLAIM_WAITING(services.pool, values);
}

const CLAIM = defineCommand(
  "claim-run",
  `UPDATE runs SET claimed_by = $2, paused_by = NULL, epoch = epoch + 1, status = 'Running', sequence = sequence + 1,
                   started_at = coalesce(started_at, greatest(coalesce($3, date_trunc('milliseconds', clock_timestamp())), created_at + interval '1 ms')),
                   admitted_at = coalesce($3, date_trunc('milliseconds', clock_timestamp()))
   WHERE id = $1 AND ${isOpenSql()} AND claimed_by IS NULL AND cancel_requested_at IS NULL
     AND (admitted_at IS NOT NULL OR parent_run_id IS NOT NULL) AND ($4::int IS NULL OR hand_over = $4)
     AND EXISTS (SELECT FROM workers WHERE id = $2 FOR KEY SHARE)`,
);
const FIND_WORKER = defineQuery("find-worker", z.object({}), "SELECT FROM workers WHERE id = $1");

/**
 * Claims one run for a worker: a child of its own run, or a run that an Inngest server calls for its hand-over.
 * Null if it cannot be claimed. Throws WorkerLost.
 */
export async function claimRun(
  services: Services,
  { runId, handOver }: { runId: string; handOver?: number | undefined },
  workerId: string,
): Promise<ClaimedRun | null> {
  const values = [runId, workerId, services.clock.forDatabase(), handOver ?? null];
  const claimed = await CLAIM(services.pool, values);
  if (claimed === 0) {
    const workers = await FIND_WORKER(services.pool, [workerId]);
    if (workers.length === 0) throw new WorkerLost();
    return null;
  }
  return readClaimedRun(services, runId);
}

const READ = defineQuery(
  "read-claimed-runs",
  claimedRow,
  `
  SELECT r.id, r.organization_id AS "orgId", r.kind, r.source, coalesce(r.agent_id, r.tool_id) AS "targetId", r.epoch, r.sequence, r.input,
         r.root_run_id AS "rootRunId", root.trace_parent AS "traceParent", r.created_at AS "createdAt",
         r.started_at AS "startedAt", r.deadline_seconds AS "deadlineSeconds",
         extract(epoch FROM r.started_at + make_interval(secs => r.deadline_seconds)
                            - coalesce($2, clock_timestamp()))::float8 * 1000 AS "leftMs",
         CASE WHEN r.max_credits IS NOT NULL THEN
           json_build_object('credits', r.max_credits::text, 'of', coalesce(r.max_credits_of, 'this run')) END AS cap,
         greatest(root.yielded_at[cardinality(root.yielded_at)], root.paused_at) AS "leftAt",
         CASE WHEN r.root_run_id = r.id THEN r.held ELSE root.held END AS held,
         CASE WHEN r.epoch = 1 AND r.forked_from IS NULL THEN 0 ELSE (
           SELECT coalesce(sum(octet_length(s.output)), 0) FROM steps s WHERE s.run_id = r.id
         ) + (
           SELECT coalesce(sum(octet_length(m.content) + octet_length(m.reasoning) + octet_length(m.tool_calls)), 0)
           FROM model_calls m WHERE m.run_id = r.id
         ) END::float8 AS "storedBytes",
         encode(c.hash, 'hex') AS "configurationHash", c.document
  FROM runs r
  JOIN runs root ON root.id = r.root_run_id
  JOIN configurations c ON c.organization_id = r.organization_id AND c.hash = r.configuration_hash
  WHERE r.id = ANY($1::uuid[]) ORDER BY array_position($1::uuid[], r.id)`,
);

const frozen = z.object({ prices: frozenPrices });

type Claimed = { runs: ClaimedRun[]; unreadable: { id: string; error: unknown }[] };

/**
 * Reads claimed runs with their configurations, in the order of `runIds`. A run with a configuration that this version
 * cannot read is `unreadable`, so that it does not keep others from starting.
 */
export async function readClaimed(services: Services, runIds: readonly string[]): Promise<Claimed> {
  const claimed: Claimed = { runs: [], unreadable: [] };
  if (runIds.length === 0) return claimed;
  // Before the statement: a slow answer does not extend a deadline.
  const readAtMs = services.clock.monotonicMs();
  const rows = await READ(services.pool, [runIds, services.clock.forDatabase()]);
  for (const { document: text, orgId, leftMs, ...run } of rows) {
    try {
      const document: unknown = readJson(text);
      const configuration = runConfiguration.parse(document);
      const { prices } = frozen.parse(document);
      claimed.runs.push({
        ...run,
        orgId: mintOrgId(orgId),
        endsAtMs: readAtMs + leftMs,
        configuration,
        prices,
      });
    } catch (error) {
      claimed.unreadable.push({ id: run.id, error });
    }
  }
  return claimed;
}

/** Reads one claimed run. Throws if its configuration cannot be read. */
export async function readClaimedRun(services: Services, runId: string): Promise<ClaimedRun | null> {
  const { runs, unreadable } = await readClaimed(services, [runId]);
  if (unreadable[0] !== undefined) throw unreadable[0].error;
  return runs[0] ?? null;
}
