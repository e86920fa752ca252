import type { RunMemory } from "@/server/guard/limits/process-memory";
import type { Services } from "@/server/runs/services";
import type { ClaimedRun, Outcome, Totals } from "../claimed-run";
import type { Worker } from "../port";
import type { Budget } from "../slots/budget";
import type { Tree } from "../slots/slot";
import type { RunJournal } from "../write/journal";
import type { Branches } from "./branches";
import type { DurableSteps } from "./durable-steps";
import type { RunSecrets } from "./run-secrets";
import type { StepRecord } from "./step-record";

export type SegmentContext = {
  services: Services;
  worker: Worker;
  /** `stop` stops the run; call the returned function at the run's end. */
  enter(run: ClaimedRun, totals: Totals, stop: AbortController): () => void;
  branches: Branches;
  steps: DurableSteps;
  tree: Tree;
  /** Called before each model call and each round of calls; throws YieldSlot if the run must yield its slot. */
  checkpoint(): void;
  /** True: steps that need much memory must wait, because other runs take too much. */
  isHeldUp(): boolean;
  onEnd(run: ClaimedRun, end: { outcome: Outcome; totals: Totals; finishedAt: Date }): void;
};

export type Execution = SegmentContext & {
  run: ClaimedRun;
  /** Aborted when the run is cancelled, passes its deadline or has another worker. */
  signal: AbortSignal;
  budget: Budget;
  journal: RunJournal;
  secrets: RunSecrets;
  /** Names of the child runs that lead to this run, itself included; empty for a root run. */
  path: string;
  memory: RunMemory;
  /** Answers the calls of a fork; undefined: they are executed. */
  record: StepRecord | undefined;
  /** 1 for a root run. */
  depth: number;
  /** The earliest of this run's and its callers' deadlines. */
  deadline: Date;
  /** Uses this run's slot and budget. */
  runChild(
    child: ClaimedRun,
    options: {
      inserted?: Promise<void>;
      signal: AbortSignal;
    },
  ): Promise<ChildOutcome>;
};

export type ChildOutcome =
  | { status: "Completed"; output: string }
  | { status: "Failed" | "Cancelled"; code: string; message: string };
