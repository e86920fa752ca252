import type { FailureCode } from "@/server/runs/failure-codes";
import type { Services } from "@/server/services";
import type { Fork } from "@/server/workflow/lanes";
import type { ClaimedRun } from "../claimed-run";
import type { Worker } from "../port";
import type { RunJournal } from "../write/journal";
import type { Budget } from "./budget";
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
  /** The strands of the root run (strands.ts). */
  strands: {
    /** Does pieces of work side by side; all of them settle before an error is thrown. */
    fork: Fork;
    /** Resolves at the time. Throws SleepUntil if the run is to leave its slot until then. */
    sleep(until: Date, signal: AbortSignal): Promise<void>;
  };
  /** 1 for a root run; a run that it calls is one deeper. */
  depth: number;
  /** Shared by a root run and its children: how many runs have been started in it. */
  family: { started: number };
  /** When this run or one that called it has had its time. */
  deadline: Date;
  /** Executes a child run to its end, on this run's slot and budget. */
  runChild(
    child: ClaimedRun,
    options: {
      /** Resolves when a new child's row is committed. */
      inserted?: Promise<void>;
      signal: AbortSignal;
    },
  ): Promise<ChildOutcome>;
};

/** How a child run ended, for its caller. */
export type ChildOutcome =
  | { status: "Completed"; output: string }
  | { status: "Failed" | "Cancelled"; code: string; message: string };

export type Outcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: FailureCode; message: string }
  | { status: "Cancelled"; by: string };

/** The run was cancelled, ended elsewhere or taken over by another worker. */
export class RunStopped extends Error {
  override name = "RunStopped";
}

export class DeadlinePassed extends Error {
  override name = "DeadlinePassed";
}

/** The run must yield its slot before its next act. */
export class YieldSlot extends Error {
  override name = "YieldSlot";
}

/** All strands of the run sleep; the first of them until this time. The run is to leave its slot until then. */
export class SleepUntil extends YieldSlot {
  override name = "SleepUntil";
  readonly until: Date;

  constructor(until: Date) {
    super("the run waits");
    this.until = until;
  }
}
