import { ZERO } from "@/server/credits/amount";
import { ModelError } from "@/server/models/port";
import type { Services } from "@/server/services";
import { executeAgent } from "./execute-agent";
import { executeTool } from "./execute-tool";
import type { Execution } from "./execution";
import { enterRun, RunStopped } from "./in-flight";
import { RunLost, readJournal } from "./journal";
import { type ClaimedRun, claimRun, endRun, hasLeft, type Outcome, takeChildren } from "./lifecycle";
import { CapReached, CreditsExhausted, capPurse, openPurse, type Purse } from "./purse";
import { giveBack, owesPlace, type Place, takePlace } from "./turns";

/**
 * The engine's part: runs `work` unless it has finished under this name before, and remembers the short text it
 * returned. What `work` throws makes the engine try again later.
 */
export type Remember = (name: string, work: () => Promise<string>) => Promise<string>;

/** The run has ended, or given its place back, inside a step: nothing is left to do here. */
class RunOver extends Error {
  override name = "RunOver";
}

/** A child run found that its organization owes a place: the root gives it back. */
class PlaceOwed extends Error {
  override name = "PlaceOwed";
}

/** The run's wall-clock deadline has passed. */
class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/**
 * Executes a run from wherever it stands to its end: claims it, goes through its loop or workflow, and settles it.
 * Every write of the work lies inside a remembered step; the rows decide what has been done. With `engineRunId`, a run
 * that another run of the engine is executing is left to it, and with `wokenFor` one that gave its place back since
 * (`claimRun`). Throws only what a later try may mend (the database is away, the worker lost the run).
 */
export async function executeRun(
  services: Services,
  runId: string,
  remember: Remember,
  engineRunId?: string,
  wokenFor?: number,
): Promise<void> {
  const run = await claimRun(services, runId, engineRunId, wokenFor);
  if (run === null) {
    // No step of its own: a server that asks for one planned step waits for that one in vain.
    await settleUnclaimed(services, runId);
    return;
  }
  const children =
    run.epoch > 1 ? await takeChildren(services, run) : { open: ZERO, ended: ZERO, held: run.held };
  const used = run.creditsUsed.add(children.open);
  const purse = openPurse(services, { id: run.rootRunId, epoch: run.epoch, held: children.held, used });
  const capped = capPurse(purse, run.cap, used.add(children.ended));
  await executeClaimed(services, run, takePlace(services, run, wokenFor), capped, remember);
}

/** Executes a claimed run on a given place and purse; child runs come in here, inside a step of their parent. */
export async function executeClaimed(
  services: Services,
  run: ClaimedRun,
  place: Place,
  purse: Purse,
  remember: Remember,
  parentSignal?: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const signal = parentSignal === undefined ? stop.signal : AbortSignal.any([stop.signal, parentSignal]);

  /** Ends the run. What the engine is to remember of it must be true: not that a run ended which another worker has. */
  const end = async (outcome: Outcome) => {
    const ended = await endRun(services, run.id, outcome, { epoch: run.epoch });
    if (!ended && (await stateOf(services, run.id)) !== "ended") {
      throw new RunLost(`run ${run.id} is no longer this worker's`);
    }
    return "ended" as const;
  };

  /** One remembered step: the only place where the run's work is done, watched and ended. */
  const step = async (name: string, work: () => Promise<Outcome | undefined>) => {
    const verdict = await remember(name, async () => {
      const leave = watch(services, run, stop);
      try {
        signal.throwIfAborted();
        const outcome = await work();
        if (outcome === undefined) return "done";
        return await end(outcome);
      } catch (error) {
        let cause: unknown = signal.aborted ? signal.reason : error;
        if (cause instanceof PlaceOwed && run.rootRunId === run.id) {
          if (await giveBack(services, run)) return "gave its place back";
          cause = new RunStopped("The run is to be cancelled, has ended or has another worker.");
        }
        const outcome = await outcomeOf(services, run, cause);
        if (outcome === null) throw cause;
        return outcome === "ended" ? outcome : await end(outcome);
      } finally {
        leave();
      }
    });
    if (verdict !== "done") throw new RunOver(`run ${run.id}: ${verdict}`);
  };

  const finished = () => execution.modelCalls.size + execution.steps.size;
  const execution: Execution = {
    services,
    run,
    signal,
    purse,
    ...(await readJournal(services, run)),
    durably: (name, work) =>
      step(name, async () => {
        if (owesPlace(services, place)) throw new PlaceOwed(`run ${run.id} gives its place back`);
        const before = finished();
        await work();
        place.used ||= finished() > before;
        return undefined;
      }),
    runChild: async (childRunId) => {
      const child = await claimRun(services, childRunId);
      if (child === null) await settleUnclaimed(services, childRunId);
      else {
        const own = capPurse(purse, child.cap, child.creditsUsed);
        await executeClaimed(services, child, place, own, (_name, work) => work(), signal);
      }
    },
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
  const leave = enterRun(services, run, stop);
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
  if (error instanceof RunStopped) {
    const state = await stateOf(services, run.id);
    return state === "open" ? null : state;
  }
  if (error instanceof DeadlinePassed)
    return { status: "Failed", code: "deadline_exceeded", message: error.message };
  if (error instanceof CreditsExhausted) {
    return { status: "Failed", code: "insufficient_credits", message: error.message };
  }
  if (error instanceof CapReached) return { status: "Failed", code: "max_credits", message: error.message };
  if (error instanceof ModelError)
    return { status: "Failed", code: `model_${error.reason}`, message: error.message };
  return null;
}

/** Whether a run has ended, is to be cancelled, or is open: then another worker has it. */
async function stateOf(services: Services, runId: string): Promise<Outcome | "ended" | "open"> {
  const row = await services.db.run.findUnique({
    where: { id: runId },
    select: { status: true, cancelRequestedAt: true, cancelledBy: true },
  });
  if (row === null || (row.status !== "Pending" && row.status !== "Running")) return "ended";
  return row.cancelRequestedAt === null ? "open" : { status: "Cancelled", by: row.cancelledBy ?? "a user" };
}

/** A run that cannot be claimed has ended, is in other hands, or is to be cancelled and nobody owns it any more. */
async function settleUnclaimed(services: Services, runId: string): Promise<void> {
  const state = await stateOf(services, runId);
  if (typeof state === "object") await endRun(services, runId, state);
}

/**
 * Ends a run that the engine's run `engineRunId` gave up after its retries; a fault of the platform: uncharged, its
 * cause only in the log. A run that another one executes is left to that.
 */
export async function settleGivenUp(
  services: Services,
  runId: string,
  error: unknown,
  engineRunId?: string,
): Promise<void> {
  // The engine gave up a worker that another one had replaced: the run is in better hands.
  if (error instanceof Error && error.name === "RunLost") return;
  if (engineRunId !== undefined && (await hasLeft(services, runId, engineRunId))) return;
  services.log.error("the engine gave a run up", { runId, error });
  const message = "Something failed on our side while this run was executed. Start it again.";
  await endRun(services, runId, { status: "Failed", code: "internal_error", message });
}
