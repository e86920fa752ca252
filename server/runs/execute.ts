import { Decimal, ZERO } from "@/server/credits/amount";
import { ModelError } from "@/server/models/port";
import type { Services } from "@/server/services";
import { executeAgent } from "./execute-agent";
import { executeTool } from "./execute-tool";
import type { Execution } from "./execution";
import { enterRun, RunStopped } from "./in-flight";
import { RunLost, readJournal } from "./journal";
import { type ClaimedRun, claimRun, endRun, type Outcome } from "./lifecycle";
import { CapReached, CreditsExhausted, openPurse, type Purse } from "./purse";

/**
 * The engine's part: runs `work` unless it has finished under this name before, and remembers the short text it
 * returned. What `work` throws makes the engine try again later.
 */
export type Remember = (name: string, work: () => Promise<string>) => Promise<string>;

/** The run has ended inside a step: nothing is left to do. */
class RunOver extends Error {
  override name = "RunOver";
}

/** The run's wall-clock deadline has passed. */
class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/**
 * Executes a run from wherever it stands to its end: claims it, goes through its loop or workflow, and settles it.
 * Every write lies inside a remembered step; the rows decide what has been done. Throws only what a later try may
 * mend (the database is away, the worker lost the run).
 */
export async function executeRun(services: Services, runId: string, remember: Remember): Promise<void> {
  const run = await claimRun(services, runId);
  if (run === null) {
    await remember("settle", async () => settleUnclaimed(services, runId));
    return;
  }
  const children = run.epoch > 1 ? await creditsOfChildren(services, run) : { open: ZERO, ended: ZERO };
  const purse = openPurse(services, {
    id: run.rootRunId,
    held: run.held,
    used: run.creditsUsed.add(children.open),
    settled: children.ended,
    cap: run.cap,
  });
  await executeClaimed(services, run, purse, remember);
}

/** Executes a claimed run on a given purse; child runs come in here, inside a step of their parent. */
export async function executeClaimed(
  services: Services,
  run: ClaimedRun,
  purse: Purse,
  remember: Remember,
  parentSignal?: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const signal = parentSignal === undefined ? stop.signal : AbortSignal.any([stop.signal, parentSignal]);

  /** One remembered step: the only place where the run's work is done, watched and ended. */
  const step = async (name: string, work: () => Promise<Outcome | undefined>) => {
    const verdict = await remember(name, async () => {
      const leave = watch(services, run, stop);
      try {
        signal.throwIfAborted();
        const outcome = await work();
        if (outcome === undefined) return "done";
        await endRun(services, run.id, outcome, { epoch: run.epoch });
        return "ended";
      } catch (error) {
        const cause = signal.aborted ? signal.reason : error;
        const outcome = await outcomeOf(services, run, cause);
        if (outcome === null) throw cause;
        if (outcome !== "ended") await endRun(services, run.id, outcome, { epoch: run.epoch });
        return "ended";
      } finally {
        leave();
      }
    });
    if (verdict !== "done") throw new RunOver(`run ${run.id} has ended`);
  };

  const execution: Execution = {
    services,
    run,
    signal,
    purse,
    ...(await readJournal(services, run)),
    durably: (name, work) =>
      step(name, async () => {
        await work();
        return undefined;
      }),
    runChild: (child) => executeClaimed(services, child, purse, (_name, work) => work(), signal),
  };
  try {
    const { configuration } = run;
    const outcome =
      configuration.kind === "agent"
        ? await executeAgent(execution, configuration)
        : await executeTool(execution, configuration);
    await step("finish", async () => outcome);
  } catch (error) {
    if (!(error instanceof RunOver)) throw error;
  }
}

/** Lets cancels and the deadline stop the work of one step. */
function watch(services: Services, run: ClaimedRun, stop: AbortController): () => void {
  const leave = enterRun(services, run.id, stop);
  const left = run.deadline.getTime() - services.clock.now().getTime();
  const pass = () =>
    stop.abort(new DeadlinePassed(`The run passed its deadline of ${run.deadlineSeconds} seconds.`));
  if (left <= 0) pass();
  const timer = setTimeout(pass, Math.max(0, Math.min(left, 2 ** 31 - 1)));
  timer.unref();
  return () => {
    clearTimeout(timer);
    leave();
  };
}

/** What an error means for the run; null: nothing, the engine shall try again. */
async function outcomeOf(
  services: Services,
  run: ClaimedRun,
  error: unknown,
): Promise<Outcome | "ended" | null> {
  if (error instanceof RunLost) return null;
  if (error instanceof RunStopped) return (await outcomeOfStop(services, run.id)) ?? "ended";
  if (error instanceof DeadlinePassed)
    return { status: "Failed", code: "deadline_exceeded", message: error.message };
  if (error instanceof CreditsExhausted) {
    return { status: "Failed", code: "insufficient_credits", message: error.message };
  }
  if (error instanceof CapReached) return { status: "Failed", code: "max_credits", message: error.message };
  if (error instanceof ModelError) return { status: "Failed", code: "model_error", message: error.message };
  return null;
}

/** A stopped run is Cancelled when somebody asked for it; else it ended elsewhere. */
async function outcomeOfStop(services: Services, runId: string): Promise<Outcome | null> {
  const row = await services.db.run.findUnique({
    where: { id: runId },
    select: { status: true, cancelRequestedAt: true, cancelledBy: true },
  });
  if (row === null || (row.status !== "Pending" && row.status !== "Running")) return null;
  return row.cancelRequestedAt === null ? null : { status: "Cancelled", by: row.cancelledBy ?? "a user" };
}

/** A run that cannot be claimed has ended, or is to be cancelled and nobody owns it any more. */
async function settleUnclaimed(services: Services, runId: string): Promise<string> {
  const outcome = await outcomeOfStop(services, runId);
  if (outcome !== null) await endRun(services, runId, outcome);
  return "ended";
}

/** What a run's children have used: the open ones out of its hold, the ended ones were charged. */
async function creditsOfChildren(services: Services, run: ClaimedRun) {
  const { rows } = await services.pool.query<{ open: string; ended: string }>(
    `SELECT coalesce(sum(credits_used) FILTER (WHERE finished_at IS NULL), 0) AS open,
            coalesce(sum(credits_used) FILTER (WHERE finished_at IS NOT NULL), 0) AS ended
     FROM runs WHERE parent_run_id = $1`,
    [run.id],
  );
  return { open: new Decimal(rows[0]?.open ?? 0), ended: new Decimal(rows[0]?.ended ?? 0) };
}

/** Ends a run that the engine gave up after its retries; a fault of the platform: uncharged, its cause only in the log. */
export async function settleGivenUp(services: Services, runId: string, error: unknown): Promise<void> {
  // The engine gave up a worker that another one had replaced: the run is in better hands.
  if (error instanceof Error && error.name === "RunLost") return;
  services.log.error("the engine gave a run up", { runId, error });
  const message = "Something failed on our side while this run was executed. Start it again.";
  await endRun(services, runId, { status: "Failed", code: "internal_error", message });
}
