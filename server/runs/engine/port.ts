import type { OrgId } from "@/server/base/actor";
import type { ClaimedRun, Totals } from "./claimed-run";
import type { LaneName } from "./write/numbered-flush";
import { type Lane, type LaneFigures, WorkerLost } from "./write/writer";

/** A process's right to execute runs: its row in `workers`, its heartbeat and its writer. */
export type Worker = {
  id: string;
  /** Each resolves when it is committed. */
  accounts: Pick<Lane, "start" | "isStarting" | "reject" | "end" | "hold">;
  /** Commits rows in order. */
  journal: Pick<Lane, "row" | "child">;
  /**
   * Call before each model call or step: a process that had stalled must not execute runs that were taken over. Throws
   * WorkerLost.
   */
  confirm(): Promise<void> | undefined;
  isConfirmed(): boolean;
  /** Undefined if the step may begin immediately. */
  waitForTurn(orgId: OrgId): Promise<void> | undefined;
  figures(): Record<LaneName, LaneFigures>;
  close(): Promise<void>;
};

/** A run that executes in this process, for polls. */
export type ExecutingRun = { run: ClaimedRun; totals: Totals };

export type Engine = {
  /** Registers the worker on first use. */
  worker(): Promise<Worker>;
  /** The run must be claimed for this process's worker. */
  begin(run: ClaimedRun, worker: Worker): void;
  /** Announces that runs wait for a slot. Cheap; never throws. */
  wake(): void;
  /** No effect if the run executes elsewhere. */
  abort(runId: string): void;
  find(runId: string): ExecutingRun | undefined;
  /** Those reserved for runs that are being claimed are not used. */
  slots(): { total: number; used: number };
  /** False if the database could not store a write in the last 10 s, such as with a full disk. */
  canWrite(): boolean;
  ready(): Promise<boolean>;
};

/**
 * Writes with this process's worker. If it was replaced, the write is repeated once with a new one, so it must not
 * depend on a certain worker.
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
