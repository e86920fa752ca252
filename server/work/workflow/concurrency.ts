import { ExpressionError } from "@/server/work/expressions/jsonata";
import type { CallStep } from "@/server/work/workflow/definition";
import type { Fork } from "@/server/work/workflow/journal";
import { StoredJson } from "@/server/work/workflow/stored-json";

/** A failed step. It fails the run, unless the step has `onError: continue`. */
export class StepFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  /** Adds the location, and removes a child run's "Step … failed". */
  at(location: string): StepFailure {
    const inner = this.message.replace(/^Step ("\w+") failed: /, "step $1: ");
    return new StepFailure(this.code, `${location}: ${inner}`);
  }
}

/** A failure that belongs to the run; anything else is thrown on. */
export function toFailure(error: unknown): StepFailure {
  if (error instanceof StepFailure) return error;
  if (error instanceof ExpressionError) return new StepFailure("invalid_expression", error.message);
  throw error;
}

/**
 * The output of a step, or its error. `failure` is null if the step completed or continues on errors.
 */
export async function settle(
  step: Pick<CallStep, "onError">,
  work: Promise<StoredJson>,
): Promise<{ output: StoredJson; failure: StepFailure | null }> {
  try {
    return { output: await work, failure: null };
  } catch (error) {
    const failure = toFailure(error);
    const output = new StoredJson(JSON.stringify({ error: failure.message, code: failure.code }));
    return { output, failure: step.onError === "continue" ? null : failure };
  }
}

/**
 * Works on the items in order, at most `limit` at a time. After a failure, only the items in progress finish. Throws the
 * failure of the first item that failed: the same one on every replay.
 */
export async function runConcurrently<Item>(
  items: readonly Item[],
  { limit, fork, act }: { limit: number; fork: Fork; act: Parameters<Fork>[1] },
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const failures = new Map<number, StepFailure>();
  // All loops take from the same iterator.
  const entries = items.entries();
  let isStopped = false;
  const loop = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (isStopped) return;
      try {
        await work(item, index);
      } catch (error) {
        isStopped = true;
        failures.set(index, toFailure(error));
      }
    }
  };
  await fork(
    Array.from({ length: Math.min(limit, items.length) }, () => loop),
    act,
  );
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
}
