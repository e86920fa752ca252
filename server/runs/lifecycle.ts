import { z } from "zod";
import { type RunConfiguration, runConfiguration } from "@/server/agent/definition";
import type { OrgId } from "@/server/auth/actor";
import { mintOrgId } from "@/server/auth/mint-org-id";
import { Decimal, ZERO } from "@/server/credits/amount";
import { type LedgerEntry, postEntries } from "@/server/credits/ledger";
import { frozenPrices, type PriceList } from "@/server/credits/prices";
import { findRefundable } from "@/server/credits/refund";
import { type Queryable, transact } from "@/server/db/sql";
import { ringRun } from "@/server/live/doorbell";
import type { Services } from "@/server/services";
import type { FailureCode } from "./failure-codes";
import { abortRun, RunStopped } from "./in-flight";
import { RunLost } from "./journal";
import type { Cap } from "./purse";

/**
 * The sole writer of a run's status. Every move is a compare-and-set under the run's row lock; a terminal row is
 * frozen, by these statements and by a trigger in the database (product.md, "Terminal states").
 */

export type RunStatus = "Pending" | "Running" | "Completed" | "Failed" | "Cancelled";

/** A run that this worker owns while its epoch is the newest. */
export type ClaimedRun = {
  id: string;
  orgId: OrgId;
  kind: "agent" | "tool";
  epoch: number;
  configuration: RunConfiguration;
  /** What things cost this run: the price list of the moment it was started. */
  prices: PriceList;
  input: string;
  rootRunId: string;
  createdAt: Date;
  startedAt: Date;
  deadline: Date;
  deadlineSeconds: number;
  cap: Cap | null;
  /** What this run has used so far. */
  creditsUsed: Decimal;
  /** The root run's hold. */
  held: Decimal;
  stepsExecuted: number;
  /** When it gave its place back for the last time. */
  gaveBackAt: Date | null;
};

/** A run whose worker has been silent for this long may be taken by another engine run: half of the reconciler's patience. */
const SILENT_AFTER_MS = 30_000;

const CLAIM = {
  name: "claim-run",
  text: `
  WITH claimed AS (
    UPDATE runs SET status = 'Running', started_at = coalesce(started_at, $2), heartbeat_at = $2, claimed_by = $3,
                    admitted_at = coalesce(admitted_at, $2), epoch = epoch + 1, sequence = sequence + 1,
                    regained_at = CASE WHEN cardinality(regained_at) < cardinality(gave_back_at)
                                       THEN regained_at || $2::timestamptz ELSE regained_at END
    WHERE id = $1 AND status IN ('Pending', 'Running') AND cancel_requested_at IS NULL
      AND (status = 'Pending' OR $3::text IS NULL OR claimed_by = $3
           OR ((claimed_by IS NULL OR heartbeat_at < $4) AND coalesce($5, epoch) = epoch))
    RETURNING *
  )
  SELECT r.id, r.organization_id, r.kind, r.epoch, r.sequence, r.input, r.root_run_id, r.created_at, r.started_at,
         r.deadline_seconds, r.max_credits, r.max_credits_of, r.credits_used, r.steps_executed,
         r.gave_back_at[cardinality(r.gave_back_at)] AS gave_back_at,
         CASE WHEN r.root_run_id = r.id THEN r.held ELSE root.held END AS held, c.document
  FROM claimed r
  JOIN runs root ON root.id = r.root_run_id
  JOIN configurations c ON c.organization_id = r.organization_id AND c.hash = r.configuration_hash`,
};

const claimedRow = z.object({
  id: z.string(),
  organization_id: z.string(),
  kind: z.enum(["agent", "tool"]),
  epoch: z.number(),
  sequence: z.number(),
  input: z.string(),
  root_run_id: z.string(),
  created_at: z.date(),
  started_at: z.date(),
  deadline_seconds: z.number(),
  max_credits: z.string().nullable(),
  max_credits_of: z.string().nullable(),
  credits_used: z.string(),
  steps_executed: z.number(),
  gave_back_at: z.date().nullable(),
  held: z.string(),
  document: z.string(),
});

/** Runs of releases before prices were frozen have none. */
const startedUnder = z.object({ prices: frozenPrices.optional() });

/**
 * Takes a run for execution: Pending or Running → Running, with a new epoch that fences every earlier worker.
 * `engineRunId` names the engine's run that asks: it comes back to what it had, but takes nothing from another one
 * that gave a sign of life within 30 s, and nothing at all when the run was claimed or gave its place back since
 * `wokenFor`, the epoch of the wake-up: an Inngest server calls an engine run once more after its last step. A run may be
 * woken more than once, and all but one are to leave it alone.
 * Null when the run has ended, is to be cancelled, is in other hands or does not exist.
 */
export async function claimRun(
  services: Services,
  runId: string,
  engineRunId?: string,
  wokenFor?: number,
): Promise<ClaimedRun | null> {
  const now = services.clock.now();
  const silentSince = new Date(now.getTime() - SILENT_AFTER_MS);
  const { rows } = await services.pool.query({
    ...CLAIM,
    values: [runId, now, engineRunId ?? null, silentSince, wokenFor ?? null],
  });
  if (rows.length === 0) return null;
  const row = claimedRow.parse(rows[0]);
  ringRun(services, row.organization_id, row.id, row.sequence);
  const document: unknown = JSON.parse(row.document);
  return {
    id: row.id,
    orgId: mintOrgId(row.organization_id),
    kind: row.kind,
    epoch: row.epoch,
    configuration: runConfiguration.parse(document),
    prices: startedUnder.parse(document).prices ?? services.prices,
    input: row.input,
    rootRunId: row.root_run_id,
    createdAt: row.created_at,
    startedAt: row.started_at,
    deadlineSeconds: row.deadline_seconds,
    deadline: new Date(row.started_at.getTime() + row.deadline_seconds * 1000),
    cap:
      row.max_credits === null
        ? null
        : { credits: new Decimal(row.max_credits), of: row.max_credits_of ?? "this run" },
    creditsUsed: new Decimal(row.credits_used),
    held: new Decimal(row.held),
    stepsExecuted: row.steps_executed,
    gaveBackAt: row.gave_back_at,
  };
}

/** Whether a run that began is none of this engine run's any more: another one has it, or it gave its place back. */
export async function hasLeft(services: Services, runId: string, engineRunId: string): Promise<boolean> {
  const { rows } = await services.pool.query(
    `SELECT 1 FROM runs WHERE id = $1 AND status = 'Running' AND claimed_by IS DISTINCT FROM $2`,
    [runId, engineRunId],
  );
  return rows.length > 0;
}

/**
 * Takes the open children of a run that was claimed before: the worker that had them is refused from now on. Returns
 * what they have used, the open ones out of the hold and the ended ones charged, and the hold, which each child that
 * ended took its part from. Throws RunLost when the run was claimed anew meanwhile.
 */
export async function takeChildren(
  services: Services,
  run: ClaimedRun,
): Promise<{ open: Decimal; ended: Decimal; held: Decimal }> {
  await services.pool.query(
    `UPDATE runs SET epoch = epoch + 1 WHERE id IN (
       SELECT id FROM runs WHERE parent_run_id = $1 AND status IN ('Pending', 'Running')
         AND EXISTS (SELECT 1 FROM runs root WHERE root.id = $1 AND root.epoch = $2) ORDER BY id FOR UPDATE
     )`,
    [run.id, run.epoch],
  );
  const { rows } = await services.pool.query<{ open: string; ended: string; held: string }>(
    `SELECT run.held, coalesce(sum(c.credits_used) FILTER (WHERE c.finished_at IS NULL), 0) AS open,
            coalesce(sum(c.credits_used) FILTER (WHERE c.finished_at IS NOT NULL), 0) AS ended
     FROM runs run LEFT JOIN runs c ON c.parent_run_id = run.id
     WHERE run.id = $1 AND run.epoch = $2 AND run.finished_at IS NULL GROUP BY run.id`,
    [run.id, run.epoch],
  );
  const row = rows[0];
  if (row === undefined) throw new RunLost(`run ${run.id} is no longer this worker's`);
  return { open: new Decimal(row.open), ended: new Decimal(row.ended), held: new Decimal(row.held) };
}

export type Outcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: FailureCode; message: string }
  | { status: "Cancelled"; by: string };

export type EndOptions = {
  /** Only the worker that holds this epoch may end the run; absent: anybody who found it so (sweeper, cancel). */
  epoch?: number;
  /** Only a run in this status is ended. */
  from?: "Pending" | "Running";
  /** Only a run that no worker has is ended: a pending one, or one that gave its place back. */
  unclaimed?: boolean;
};

/**
 * Ends a run and settles its credits in one transaction: the hold is released, what was used is charged, open
 * steps are closed. After a fault of the platform nothing is charged, and what ended children were charged is
 * refunded. Returns false, changing nothing, when the run has ended already or belongs to another worker.
 */
export async function endRun(
  services: Services,
  runId: string,
  outcome: Outcome,
  options: EndOptions = {},
): Promise<boolean> {
  const ended = await transact(services.pool, (client) =>
    endWithin(services, client, runId, outcome, options),
  );
  if (ended === null) return false;
  ringRun(services, ended.orgId, runId, ended.sequence);
  if (outcome.status !== "Completed")
    abortRun(services, runId, new RunStopped(`The run is ${outcome.status}.`));
  services.engine.ring();
  return true;
}

async function endWithin(
  services: Services,
  client: Queryable,
  runId: string,
  outcome: Outcome,
  options: EndOptions,
): Promise<{ orgId: OrgId; sequence: number } | null> {
  // Locks are always taken in the order root run → child run → steps → organization.
  await client.query(
    `SELECT 1 FROM runs WHERE id = (SELECT root_run_id FROM runs WHERE id = $1) FOR UPDATE`,
    [runId],
  );
  const { rows } = await client.query<{
    organization_id: string;
    status: RunStatus;
    epoch: number;
    root_run_id: string;
    held: string;
    credits_used: string;
    claimed: boolean;
  }>(
    `SELECT organization_id, status, epoch, root_run_id, held, credits_used, heartbeat_at IS NOT NULL AS claimed
     FROM runs WHERE id = $1 FOR UPDATE`,
    [runId],
  );
  const run = rows[0];
  if (run === undefined || (run.status !== "Pending" && run.status !== "Running")) return null;
  if (options.epoch !== undefined && options.epoch !== run.epoch) return null;
  if (options.from !== undefined && options.from !== run.status) return null;
  if (options.unclaimed && run.claimed) return null;

  const children = await client.query<{ id: string }>(
    `SELECT id FROM runs WHERE parent_run_id = $1 AND status IN ('Pending', 'Running') ORDER BY id`,
    [runId],
  );
  for (const child of children.rows) {
    await endWithin(services, client, child.id, outcomeOfChild(outcome), {});
  }
  // The children's share of the hold has just ended with them.
  const held = children.rows.length === 0 ? run.held : await readHeld(client, runId);

  const now = services.clock.now();
  const orgId = mintOrgId(run.organization_id);
  const waived = isPlatformFault(outcome) ? new Decimal(run.credits_used) : ZERO;
  const used = new Decimal(run.credits_used).sub(waived);
  const isRoot = run.root_run_id === runId;
  // A child's use was covered by its root's hold: that part of the hold ends with the child.
  const released = isRoot ? new Decimal(held) : used;
  if (!isRoot && used.gt(0)) {
    await client.query(`UPDATE runs SET held = held - $2::numeric WHERE id = $1`, [
      run.root_run_id,
      used.toFixed(4),
    ]);
  }
  const entries: LedgerEntry[] = [];
  const note = waived.gt(0)
    ? `run ended by a fault of the platform: ${waived} credits used are not charged`
    : "run ended";
  if (released.gt(0)) entries.push({ kind: "release", amount: released, runId, note });
  if (used.gt(0)) entries.push({ kind: "charge", amount: used.neg(), runId, note: "run ended" });
  if (isRoot && isPlatformFault(outcome)) {
    const reason = "the calling run ended by a fault of the platform";
    entries.push(...(await findRefundable(client, orgId, runId, reason)));
  }
  if (entries.length > 0) await postEntries(client, orgId, entries, "run", services.clock);

  await client.query(
    `UPDATE steps SET status = 'Failed', finished_at = $2, error_message = $3,
            output = json_build_object('error', $3::text)::text,
            duration_ms = greatest(0, round(extract(epoch FROM $2 - started_at) * 1000))::int
     WHERE run_id = $1 AND status = 'Running'`,
    [runId, now, `The run ended (${outcome.status}) before this step had finished.`],
  );
  await client.query(
    `UPDATE model_calls SET status = 'Failed', finished_at = $2, error_message = $3,
            duration_ms = greatest(0, round(extract(epoch FROM $2 - started_at) * 1000))::int
     WHERE run_id = $1 AND status = 'Running'`,
    [runId, now, `The run ended (${outcome.status}) before this call had finished.`],
  );
  const updated = await client.query<{ sequence: number }>(
    `WITH ended AS (
       UPDATE runs SET status = $2::run_status, finished_at = $3, held = 0, sequence = sequence + 1, waiting_since = NULL,
              output = $4, credits_used = $8::numeric, error_code = $5, error_message = $6, cancelled_by = $7,
              steps_executed = (SELECT count(*) FROM steps WHERE run_id = $1)
       WHERE id = $1 RETURNING id, organization_id, sequence
     ), queued AS (
       INSERT INTO run_index_queue (run_id, organization_id) SELECT id, organization_id FROM ended
     )
     SELECT sequence FROM ended`,
    [
      runId,
      outcome.status,
      now,
      outcome.status === "Completed" ? outcome.output : null,
      outcome.status === "Failed" ? outcome.code : null,
      outcome.status === "Failed" ? outcome.message : null,
      outcome.status === "Cancelled" ? outcome.by : null,
      used.toFixed(4),
    ],
  );
  return { orgId, sequence: updated.rows[0]?.sequence ?? 0 };
}

/** A child that is still open when its caller ends can only be cancelled or fail with it. */
function outcomeOfChild(outcome: Outcome): Outcome {
  if (outcome.status === "Cancelled") return outcome;
  const code = isPlatformFault(outcome) ? outcome.code : "caller_ended";
  return { status: "Failed", code, message: "The run that called this one has ended." };
}

function isPlatformFault(outcome: Outcome): outcome is Extract<Outcome, { status: "Failed" }> {
  return outcome.status === "Failed" && outcome.code === "internal_error";
}

async function readHeld(client: Queryable, runId: string): Promise<string> {
  const { rows } = await client.query<{ held: string }>(`SELECT held FROM runs WHERE id = $1`, [runId]);
  return rows[0]?.held ?? "0";
}
