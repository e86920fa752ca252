import type { Services } from "@/server/services";
import type { FailureCode } from "../failure-codes";
import type { Budget } from "./budget";
import type { ClaimedRun } from "./claimed-run";
import type { RunJournal } from "./journal";
import type { Worker } from "./port";
import type { RunSecrets } from "./run-secrets";

/** What the code executing one run shares. */
export type Execution = {
  services: Services;
  worker: Worker;
  run: ClaimedRun;
  /** Aborted when the run is cancelled, passes its deadline or has another worker. */
  signal: AbortSignal;
  budget: Budget;
  journal: RunJournal;
  secrets: RunSecrets;
  /** Called before each act; throws if the run must yield its slot. */
  checkpoint(): void;
  /**
   * Executes a child run to its end, with this run's slot and budget; `inserted` resolves when a new child's row is
   * committed.
   */
  runChild(child: ClaimedRun, inserted?: Promise<void>): Promise<ChildOutcome>;
};

/** How a child run ended, for its caller. */
export type ChildOutcome =
  | { status: "Completed"; output: string }
  | { status: "Failed" | "Cancelled"; message: string };

/** How a run ends. */
export type Outcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: FailureCode; message: string }
  | { status: "Cancelled"; by: string };

/** The run was cancelled, ended elsewhere or taken over by another worker. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

/** The run's deadline has passed. */
export class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/** The run must yield its slot before its next act. */
export class YieldSlot extends Error {
  override name = "YieldSlot";
}
