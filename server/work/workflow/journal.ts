import type { JsonObject } from "@/server/base/json/json";
import type { RunMemory, StepMemory } from "@/server/guard/limits/process-memory";
import type { RetryPolicy } from "@/server/work/workflow/retry-policy";
import type { SkipNote } from "@/server/work/workflow/skip-note";

export type WorkflowCall = {
  /** A stable name within the run: `fetch`, or `fetch[2]` for the third item of a forEach. */
  key: string;
  stepId: string;
  /** From 0; null without forEach. */
  itemIndex: number | null;
  functionName: string;
  input: JsonObject;
  retries: RetryPolicy;
  /** Of one attempt; null: the function's own limit. */
  timeoutMs: number | null;
  act: string;
  /** The most calls of the act in progress at once. */
  width: number;
  memory: StepMemory;
  notes: ReadonlySet<string>;
};

/** A step that is skipped, or a group of steps: then `functionName` is `parallel`. */
export type SkippedStep = { key: string; functionName: string; note: SkipNote };

/** `output` is JSON text. */
export type WorkflowCallResult = { ok: true; output: string } | { ok: false; message: string; code: string };

/** Does pieces of work in parallel; `act` says what they are. Waits for all of them before it throws an error of one. */
export type Fork = <T>(
  works: readonly (() => Promise<T>)[],
  act: { key: string; name: string },
) => Promise<T[]>;

/**
 * The journal of a tool run. `call` returns the stored result, or executes the call and stores its result, cut and
 * redacted. It throws only if the run itself cannot continue. A replay calls `skip` again.
 */
export type WorkflowJournal = {
  call(call: WorkflowCall): Promise<WorkflowCallResult>;
  skip(skipped: SkippedStep): void;
  fork: Fork;
};

/** Facts that are the same on every replay of a run. */
export type RunFacts = {
  id: string;
  organizationId: string;
  startedAt: Date;
  toolName: string;
  memory: RunMemory;
  /** Fires when the run must end; the interpreter then throws its reason at the next expression. */
  signal?: AbortSignal;
  placeholderOf?: (secret: string) => string;
};
