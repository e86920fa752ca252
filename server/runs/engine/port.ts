import type { OrgId } from "@/server/auth/actor";
import type { ClaimedRun, Totals } from "./claimed-run";
import type {
  ChildRow,
  EndItem,
  EndVerdict,
  HoldItem,
  HoldVerdict,
  JournalRow,
  RefusalItem,
  RefusalVerdict,
  StartItem,
  StartVerdict,
} from "./flush-items";

/** What the rest of the server knows of the engine. */

/** One process's right to execute runs: its row in `workers`, its heartbeat and its writer. */
export type Worker = {
  id: string;
  /** Starts, ends, holds and refused calls. Each resolves when it is committed. */
  accounts: {
    start(item: StartItem): Promise<StartVerdict>;
    /** Whether a start of this run waits for its verdict. */
    isStarting(runId: string): boolean;
    refuse(item: RefusalItem): Promise<RefusalVerdict>;
    /** Ends a run; `rows` are its last journal rows, committed together with the end. */
    end(item: EndItem, rows?: JournalRow[]): Promise<EndVerdict>;
    hold(item: HoldItem): Promise<HoldVerdict>;
  };
  /** Model calls, steps and child runs, committed in the order in which they come. */
  journal: {
    row(row: JournalRow): Promise<void>;
    child(child: ChildRow): Promise<void>;
  };
  /**
   * Asked before each act: a process that was stalled must not act for runs that others took over meanwhile. Resolves when
   * the worker is known to be alive. Throws WorkerLost.
   */
  confirm(): Promise<void> | undefined;
  /** Whether the worker is known to be alive at this moment. */
  isConfirmed(): boolean;
  /** Resolves when the next act of the organization's run may begin; undefined when it may at once. */
  turn(orgId: OrgId): Promise<void> | undefined;
  /** What the writer has done so far. */
  figures(): Record<"accounts" | "journal", { flushes: number; items: number }>;
  /** Ends the worker; runs it still has are given back. */
  close(): Promise<void>;
};

/** A run that executes in this process, as polls see it. */
export type ExecutingRun = { run: ClaimedRun; totals: Totals };

export type Engine = {
  /** This process's worker; registers it when nothing has needed it before. */
  worker(): Promise<Worker>;
  /** Executes a run that its start has claimed for this process's worker. */
  begin(run: ClaimedRun, worker: Worker): void;
  /** Says that runs wait for a slot; cheap, may be called at any time, never throws. */
  wake(): void;
  /** Aborts the run if it executes in this process: it is cancelled. */
  abort(runId: string): void;
  /** The run, if it executes in this process. */
  find(runId: string): ExecutingRun | undefined;
  /** Whether the engine can take runs now. */
  ready(): Promise<boolean>;
};
