import type { OrgId } from "@/server/base/actor";
import type { ClaimedRun, Totals } from "./claimed-run";
import type { LaneName } from "./write/numbered-flush";
import { type Lane, type LaneFigures, WorkerLost } from "./write/writer";

/** The engine's interface for the rest of the server. */

/** A process's right to execute runs: its row in `workers`, its heartbeat and its writer. */
export type Worker = {
  id: string;
  /** Starts, ends, holds and rejected calls. Each resolves when it is committed. */
  accounts: Pick<Lane, "start" | "isStarting" | "refuse" | "end" | "hold">;
  /** Model calls, steps and child runs, committed in order. */
  journal: Pick<Lane, "row" | "child">;
  /**
   * Call before each act: a process that had stalled must not act for runs that were taken over. Resolves when the
   * worker is known to be alive. Throws WorkerLost.
   */
  confirm(): Promise<void> | undefined;
  /** Returns true if the worker is known to be alive now. */
  isConfirmed(): boolean;
  /** Resolves when the next act of the organization's run may begin; undefined if it may begin immediately. */
  waitForTurn(orgId: OrgId): Promise<void> | undefined;
  figures(): Record<LaneName, LaneFigures>;
  /** Ends the worker and releases its runs. */
  close(): Promise<void>;
};

/** A run that executes in this process, for polls. */
export type ExecutingRun = { run: ClaimedRun; totals: Totals };

export type Engine = {
  /** This process's worker, registered on first use. */
  worker(): Promise<Worker>;
  /** Executes a run that its start has claimed for this process's worker. */
  begin(run: ClaimedRun, worker: Worker): void;
  /** Announces that runs wait for a slot. Cheap; never throws. */
  wake(): void;
  /** Aborts the run if it executes in this process, because it is cancelled. */
  abort(runId: string): void;
  /** The run, if it executes in this process. */
  find(runId: string): ExecutingRun | undefined;
  /** False if the database could not store a write of this process in the last 10 s, such as with a full disk. */
  canWrite(): boolean;
  /** Returns true if the engine can take runs now. */
  ready(): Promise<boolean>;
};

/**
 * Writes with this process's worker. If that worker was replaced because it was silent, the write is repeated once with
 * a new worker. So it must not depend on a certain worker.
 */
export async function withWorker<T>(
  engine: Pick<Engine, "worker">,
  write: (worker: Worker) => Promise<T>,
): Promise<T> {
  try {
    return await write(await engine.worker());
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    return write(await engine.worker());
  }
}
