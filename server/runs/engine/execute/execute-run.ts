import { setMaxListeners } from "node:events";
import { z } from "zod";
import type { Decimal } from "@/server/base/amount";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { pauseAt } from "@/server/base/pause-points";
import { formatLimit, MAX_FINAL_OUTPUT_BYTES } from "@/server/contract/sizes";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { FailureCode } from "@/server/runs/failure-codes";
import { notifyRunChanged } from "@/server/runs/run-changes";
import type { Services } from "@/server/runs/services";
import { ModelError, type ModelErrorReason } from "@/server/work/models/port";
import { type ClaimedRun, deadlineOf, type Outcome } from "../claimed-run";
import { endClaimedRun, endOpenChildren } from "../end-run";
import { abortAfter, LimitReached, RunStopped, YieldSlot } from "../interruptions";
import { type Budget, capBudget } from "../slots/budget";
import { readJournal, sumChildUsage } from "../takeover";
import { RunJournal } from "../write/journal";
import { executeAgent } from "./execute-agent";
import { executeTool } from "./execute-tool";
import type { ChildOutcome, Execution, SegmentContext } from "./execution";
import { RunSecrets, secretUserOf } from "./run-secrets";
import { StepRecord } from "./step-record";

type Parent = Pick<Execution, "signal" | "depth" | "deadline" | "path" | "secrets">;

/**
 * Executes a claimed run from the end of its journal. Throws YieldSlot if the run must yield, and errors that a
 * later attempt may resolve: WorkerLost or a platform error.
 */
export async function executeRun(
  context: SegmentContext,
  run: ClaimedRun,
  { journal, budget, parent }: { journal: RunJournal; budget: Budget; parent?: Parent },
): Promise<Outcome> {
  const { services } = context;
  const stop = new AbortController();
  const signal = parent === undefined ? stop.signal : AbortSignal.any([stop.signal, parent.signal]);
  // Every step in progress listens.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const ownDeadline = deadlineOf(run);
  const passed = () =>
    new LimitReached("deadline_exceeded", `The run passed its deadline of ${run.deadlineSeconds} seconds.`);
  const unwatch = abortAfter(run.endsAtMs - services.clock.monotonicMs(), stop, passed);
  const leave = context.enter(run, journal.totals, stop);
  const execution: Execution = {
    ...context,
    run,
    signal,
    budget,
    journal,
    secrets: new RunSecrets(services, secretUserOf(services, run), parent?.secrets),
    checkpoint() {
      signal.throwIfAborted();
      context.checkpoint();
    },
    path: parent === undefined ? "" : pathOf(parent, run),
    memory: services.memory.openRun(run.orgId, { signal, isHeldUp: context.isHeldUp }),
    depth: parent === undefined ? 1 : parent.depth + 1,
    record: undefined,
    deadline: parent !== undefined && parent.deadline < ownDeadline ? parent.deadline : ownDeadline,
    runChild: (child, { inserted, signal: callerSignal }) =>
      continueChildRun(context, child, {
        budget,
        inserted,
        parent: { ...execution, signal: callerSignal },
      }),
  };
  try {
    let outcome: Outcome;
    try {
      signal.throwIfAborted();
      const { configuration } = run;
      if (configuration.fork?.tools === "recorded") {
        execution.record = await StepRecord.read(execution, configuration.fork.runId);
      }
      outcome = rejectLargeOutput(
        configuration.kind === "agent"
          ? await executeAgent(execution, configuration)
          : await executeTool(execution, configuration),
      );
    } catch (error) {
      const cause: unknown = signal.aborted ? signal.reason : error;
      // Whether a child is to be cancelled is in its row, which may not be written yet.
      if (parent !== undefined) await journal.settled();
      const ending = await outcomeOf(services, run, cause);
      if (ending === null) throw cause instanceof YieldSlot ? cause.atMost(execution.deadline) : cause;
      outcome = ending;
    }
    await endRun(execution, outcome);
    return outcome;
  } finally {
    execution.memory.close();
    leave();
    unwatch();
  }
}

function pathOf({ path }: Parent, { configuration }: ClaimedRun): string {
  return path === "" ? configuration.name : `${path} › ${configuration.name}`;
}

function rejectLargeOutput(outcome: Outcome): Outcome {
  if (outcome.status !== "Completed" || Buffer.byteLength(outcome.output) <= MAX_FINAL_OUTPUT_BYTES)
    return outcome;
  const message = `The final output is larger than ${formatLimit(MAX_FINAL_OUTPUT_BYTES)}.`;
  return { status: "Failed", code: "output_too_large", message };
}

async function continueChildRun(
  context: SegmentContext,
  child: ClaimedRun,
  { budget, parent, inserted }: { budget: Budget; parent: Parent; inserted?: Promise<void> | undefined },
): Promise<ChildOutcome> {
  const { services, worker, tree } = context;
  const contents = await readJournal(services, child);
  const journal = new RunJournal(services, worker, { run: child, contents });
  if (inserted) journal.follow(inserted);
  const used = await usedBefore(services, child, contents.totals.creditsUsed);
  const cappedBudget = capBudget(budget, child.cap, used);
  tree.journals.add(journal);
  const outcome = await executeRun(context, child, { journal, budget: cappedBudget, parent });
  tree.journals.delete(journal);
  tree.hasEndedChild = true;
  if (outcome.status === "Completed") return outcome;
  const message =
    outcome.status === "Failed" ? outcome.message : `The ${child.kind}'s run ended as Cancelled.`;
  return { status: outcome.status, code: "run_failed", message };
}

// Credits that a run and those that it called used in earlier segments.
async function usedBefore(
  { pool }: Services,
  { id, epoch, cap }: ClaimedRun,
  own: Decimal,
): Promise<Decimal> {
  const [called] = cap !== null && epoch > 1 ? await sumChildUsage(pool, [id]) : [];
  return called === undefined ? own : own.add(called.open).add(called.ended);
}

/** Throws RunStopped if another process had ended the run. */
async function endRun({ services, worker, run, journal, onEnd }: Execution, ending: Outcome): Promise<void> {
  // Answers from memory must equal the stored rows.
  const outcome = ending.status === "Failed" ? { ...ending, message: replaceNul(ending.message) } : ending;
  // A run that was taken over may have children unknown to this worker.
  if (run.epoch > 1) await endOpenChildren(services, run.id, outcome);
  await pauseAt("end:before");
  const rows = await journal.takeRemainingRows(outcome.status);
  const sequence = journal.numbers.nextSequence();
  const finishedAt = await endClaimedRun(worker, run, { outcome, totals: journal.totals, sequence, rows });
  if (finishedAt === null) throw new RunStopped("The run has ended or has another worker.");
  notifyRunChanged(services, run, sequence);
  const { runsEnded, runSeconds } = services.metrics;
  runsEnded.of(run.kind, outcome.status, run.source).value += 1;
  runSeconds.of(run.kind).observe((finishedAt.getTime() - run.startedAt.getTime()) / 1_000);
  onEnd(run, { outcome, totals: journal.totals, finishedAt });
}

/** Null if a later attempt may continue. */
async function outcomeOf(services: Services, run: ClaimedRun, error: unknown): Promise<Outcome | null> {
  if (error instanceof RunStopped) {
    const [cancel] = await FIND_CANCEL(services.pool, [run.id]);
    return cancel ? { status: "Cancelled", by: cancel.by } : null;
  }
  const code = failureCodeOf(error);
  return code && error instanceof Error ? { status: "Failed", code, message: error.message } : null;
}

function failureCodeOf(error: unknown): FailureCode | null {
  if (error instanceof LimitReached) return error.code;
  return error instanceof ModelError ? MODEL_FAILURES[error.reason] : null;
}

const MODEL_FAILURES: Record<ModelErrorReason, FailureCode> = {
  unauthorized: "model_unauthorized",
  unknown: "model_unknown",
  quota: "model_quota",
  input_too_long: "input_too_long",
  rejected: "model_refused",
  unavailable: "model_unavailable",
  truncated: "output_truncated",
  declined: "refused",
  empty: "empty_answer",
};

/** No row if neither the run nor its root is cancelled. */
const FIND_CANCEL = defineQuery(
  "find-cancel",
  z.object({ by: z.string() }),
  `SELECT coalesce(r.cancelled_by, root.cancelled_by, 'a user') AS by FROM runs r JOIN runs root ON root.id = r.root_run_id
   WHERE r.id = $1 AND ${isOpenSql("r")} AND (r.cancel_requested_at IS NOT NULL OR root.cancel_requested_at IS NOT NULL)`,
);
