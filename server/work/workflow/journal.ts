import type { JsonObject } from "@/server/base/json/json";
import type { RunMemory, StepMemory } from "@/server/guard/limits/process-memory";
import type { RetryPolicy } from "@/server/work/workflow/retry-policy";
import type { SkipNote } from "@/server/work/workflow/skip-note";

/** The needs of the interpreter towards the engine. */

/** One call of a function that the interpreter asks for. */
export type WorkflowCall = {
  /** A stable name within the run: `fetch`, or `fetch[2]` for the third item of a forEach. */
  key: string;
  stepId: string;
  /** The item's index, from 0; null without forEach. */
  itemIndex: number | null;
  functionName: string;
  input: JsonObject;
  retries: RetryPolicy;
  /** The limit of one attempt in milliseconds; null: the function's own. */
  timeoutMs: number | null;
  /** The id of the step, or of the group that the step belongs to. */
  act: string;
  /** The most calls of the act that may be under way at once. */
  width: number;
  /** The memory of the step, which the call may use for its own values. */
  memory: StepMemory;
  /** Notes for people about the step's expressions. */
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
 * The journal of a tool run. `call` returns the stored result if there is one. Otherwise it executes the call and stores
 * the result, cut and redacted. It throws only if the run itself cannot continue. `skip` notes that a step was skipped; a
 * replay notes it again.
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
  /** The placeholder of a secret in the input of a call. */
  placeholderOf?: (secret: string) => string;
};
