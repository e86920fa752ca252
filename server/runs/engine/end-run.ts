import { z } from "zod";
import { decimalText, ZERO } from "@/server/base/amount";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { mintOrgId } from "@/server/base/mint-org-id";
import { RUN_KINDS, RUN_SOURCES } from "@/server/contract/enums";
import { notifyRunChanged } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";
import { type ClaimedRun, isPlatformFailure, type Outcome, type Totals } from "./claimed-run";
import { type Worker, withWorker } from "./port";
import type { EndItem } from "./write/flush-items";
import type { JournalRow } from "./write/journal-rows";

/**
 * One transaction writes status, output, figures and ledger entries. A terminal row never changes, by these
 * statements and by a database trigger.
 */

const FIND_OPEN_RUN = defineQuery(
  "find-open-run",
  z.object({
    orgId: z.string(),
    kind: z.enum(RUN_KINDS),
    source: z.enum(RUN_SOURCES),
    epoch: z.number(),
    sequence: z.number(),
    claimedBy: z.string().nullable(),
    rootEnded: z.boolean(),
  }),
  `SELECT r.organization_id AS "orgId", r.kind, r.source, r.epoch, r.sequence, r.claimed_by AS "claimedBy",
          NOT ${isOpenSql("root")} AS "rootEnded"
   FROM runs r JOIN runs root ON root.id = r.root_run_id WHERE r.id = $1 AND ${isOpenSql("r")}`,
);
const FIND_OPEN_CHILDREN = defineQuery(
  "find-open-children",
  z.object({ id: z.string() }),
  `SELECT id FROM runs WHERE parent_run_id = $1 AND ${isOpenSql()} ORDER BY id`,
);

// An open run's own row has no totals yet. Open steps count.
const SUM_JOURNAL = defineQuery(
  "run-totals",
  z.object({
    stepsExecuted: z.number(),
    actionsUsed: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    creditsUsed: decimalText,
    sequence: z.number(),
  }),
  `SELECT f.steps + (SELECT count(*)::int FROM steps WHERE run_id = $1 AND status = 'Running') AS "stepsExecuted",
          f.actions AS "actionsUsed", f.input_tokens AS "inputTokens", f.output_tokens AS "outputTokens",
          f.credits::text AS "creditsUsed", f.sequence
   FROM open_run_figures($1, true) f`,
);

/** Ends a run of this worker with its last journal rows. Returns when; null if the worker no longer has the run. */
export function endClaimedRun(
  worker: Pick<Worker, "accounts">,
  run: ClaimedRun,
  { rows, ...end }: { outcome: Outcome; totals: Totals; sequence: number; rows: JournalRow[] },
): Promise<Date | null> {
  return worker.accounts.end({ ...endItem(run, end), epoch: run.epoch, unclaimed: false }, rows);
}

/** Ends a run without a worker. Returns false, changing nothing, if the run has ended or has a worker. */
export function endUnclaimedRun(services: Services, runId: string, outcome: Outcome): Promise<boolean> {
  return endOpenRun(services, runId, { outcome });
}

/**
 * Ends a run of a worker, or a run without one, after its child runs. Returns false, changing nothing, if the run
 * has ended or has another worker.
 */
export async function endOpenRun(
  services: Services,
  runId: string,
  { outcome, worker }: { outcome: Outcome; worker?: Worker | undefined },
): Promise<boolean> {
  const [row] = await FIND_OPEN_RUN(services.pool, [runId]);
  if (row === undefined || row.claimedBy !== (worker?.id ?? null)) return false;
  await endOpenChildren(services, runId, outcome);
  const [totals] = await SUM_JOURNAL(services.pool, [runId]);
  if (totals === undefined) throw new Error(`the journal of run ${runId} has no sum`);
  const run = { id: runId, orgId: mintOrgId(row.orgId) };
  const sequence = Math.max(row.sequence, totals.sequence) + 1;
  // The hold of a root that has ended is released: nothing is left to charge.
  const charged = row.rootEnded ? { ...totals, creditsUsed: ZERO } : totals;
  const item = {
    ...endItem(run, { outcome, totals: charged, sequence }),
    epoch: row.epoch,
    unclaimed: !worker,
  };
  const endedAt = worker
    ? await worker.accounts.end(item)
    : await withWorker(services.engine, ({ accounts }) => accounts.end(item));
  if (endedAt === null) return false;
  services.metrics.runsEnded.of(row.kind, outcome.status, row.source).value += 1;
  notifyRunChanged(services, run, sequence);
  return true;
}

/** Ends child runs that no worker has: the run ended first, or was taken over. */
export async function endOpenChildren(services: Services, runId: string, outcome: Outcome): Promise<void> {
  for (const { id } of await FIND_OPEN_CHILDREN(services.pool, [runId]))
    await endUnclaimedRun(services, id, outcomeOfChild(outcome));
}

// A child that is open when its parent ends can only be cancelled or fail.
function outcomeOfChild(outcome: Outcome): Outcome {
  if (outcome.status === "Cancelled") return outcome;
  const code = isPlatformFailure(outcome) ? outcome.code : "caller_ended";
  return { status: "Failed", code, message: "The run that called this one has ended." };
}

function endItem(
  run: Pick<ClaimedRun, "id" | "orgId">,
  { outcome, totals, sequence }: { outcome: Outcome; totals: Totals; sequence: number },
): Omit<EndItem, "epoch" | "unclaimed"> {
  const waived = isPlatformFailure(outcome);
  const note =
    waived && totals.creditsUsed.gt(0)
      ? `run ended by a platform error: ${totals.creditsUsed} credits used are not charged`
      : "run ended";
  return {
    run: run.id,
    org: run.orgId,
    status: outcome.status,
    output: outcome.status === "Completed" ? outcome.output : null,
    code: outcome.status === "Failed" ? outcome.code : null,
    message: outcome.status === "Failed" ? outcome.message : null,
    cancelled_by: outcome.status === "Cancelled" ? outcome.by : null,
    input_tokens: totals.inputTokens,
    output_tokens: totals.outputTokens,
    actions: totals.actionsUsed,
    steps: totals.stepsExecuted,
    credits: (waived ? ZERO : totals.creditsUsed).toFixed(4),
    note,
    refund: waived,
    sequence,
  };
}
