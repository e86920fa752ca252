import type { Services } from "@/server/services";
import type { FailureCode } from "../failure-codes";
import type { Budget } from "./budget";
import type { ClaimedRun } from "./claimed-run";
import type { RunJournal } from "./journal";
import type { Worker } from "./port";
import type { RunSecrets } from "./run-secrets";

/** Everything that the execution of one run shares. */
export type Execution = {
  services: Services;
  worker: Worker;
  run: ClaimedRun;
  /** Fires when the run is cancelled, passes its deadline or has another worker. */
  signal: AbortSignal;
  budget: Budget;
  journal: RunJournal;
  secrets: RunSecrets;
  /** Asked before each act; throws when the run is to yield its slot. */
  checkpoint(): void;
  /** Executes a child run to its end, on this run's slot and budget; `inserted` resolves when a new child's row is committed. */
  runChild(child: ClaimedRun, inserted?: Promise<void>): Promise<ChildOutcome>;
};

/** How a child run ended, as its caller sees it. */
export type ChildOutcome =
  | { status: "Completed"; output: string }
  | { status: "Failed" | "Cancelled"; message: string };

/** How a run ends. */
export type Outcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: FailureCode; message: string }
  | { status: "Cancelled"; by: string };

/** The run was cancelled, ended by others or given to another worker. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

/** The run's wall-clock deadline has passed. */
export class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/** The run is to yield its slot before its next act. */
export class YieldSlot extends Error {
  override name = "YieldSlot";
}
