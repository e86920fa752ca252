import { ZERO } from "@/server/base/amount";
import type { Json, JsonObject } from "@/server/base/json/json";
import { pauseAt } from "@/server/base/pause-points";
import type { RunKind } from "@/server/contract/enums";
import { MAX_STEP_OUTPUTS_BYTES, MAX_TREE_OUTPUTS_BYTES, MIB } from "@/server/contract/sizes";
import { creditsOfActions } from "@/server/credits/prices";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { Redactor } from "@/server/guard/secrets/redact";
import { cutOutput, replaceNul, storeOutput } from "@/server/guard/secrets/stored-output";
import { exactly } from "@/server/runs/engine/slots/budget";
import { FunctionError, isFinal } from "@/server/work/functions/core/define";
import { type RetryPolicy, retryWaitMs } from "@/server/work/workflow/retry-policy";
import type { StartedStep } from "../../write/journal";
import type { FinishedStep } from "../../write/journal-contents";
import type { NewStep, StepResult } from "../../write/journal-rows";
import type { Execution } from "../execution";

export type StepCall = Omit<NewStep, "hasSideEffects"> & {
  /** The input as a value; the step's own is what its row shows. */
  args: JsonObject;
  memory: StepMemory;
  retries: RetryPolicy;
  /** Of one attempt; undefined: the function's own. */
  timeoutMs?: number | undefined;
  /** For people, about the input. */
  notes?: ReadonlySet<string> | undefined;
};

/** One attempt, counted from 1. What its code prints and notes for people are stored with it. */
export type StepAttempt = { number: number; startedAt: Date; printed: string[]; notes: Set<string> };

/** The stored output of an attempt, or a failure that is not retried. */
export type StepOutcome = { text: string } | { error: string; code: string };

type StepWork = {
  /** A FunctionError is a failure that may be retried; any other error ends the run's segment. */
  attempt(started: StartedStep, attempt: StepAttempt): Promise<StepOutcome>;
  hasSideEffects: boolean;
  /** True if a worker that takes over makes all attempts again, to read how the earlier ones ended. */
  repeatsAttempts?: boolean;
};

/**
 * Attempts a step until it succeeds or no retry follows, and pays one action. A failure is the step's result.
 * Throws only what ends the run's segment.
 */
export async function performStep(
  execution: Execution,
  call: StepCall,
  work: StepWork,
): Promise<FinishedStep> {
  const { run, budget, signal, journal } = execution;
  const started = await journal.beginStep({ ...call, hasSideEffects: work.hasSideEffects });
  try {
    const price = creditsOfActions(run.prices, 1);
    const reserved = await budget.reserve(exactly(price));
    const outcome = await attemptStep(execution, started, { work, call }).catch(async (error: unknown) => {
      // A tool that ends at its cap returns what it had reserved to its caller.
      await budget.spend(reserved, ZERO);
      throw error;
    });
    const credits = await budget.spend(reserved, price);
    await pauseAt("act:after");
    signal.throwIfAborted();
    const limited = limitOutput(execution, outcome);
    const last = started.attempts.at(-1);
    if (last && "error" in limited) last.error = limited.error;
    return journal.finishStep(started, { ...stepResult(run.kind, limited), actions: 1, credits });
  } catch (error) {
    journal.abandon(started);
    throw error;
  }
}

async function attemptStep(
  { services, signal, secrets, journal, branches }: Execution,
  started: StartedStep,
  { work, call: { retries, notes } }: { work: StepWork; call: Pick<StepCall, "retries" | "notes"> },
): Promise<StepOutcome> {
  // Attempts of an earlier worker: the next one follows at its time.
  const recorded = started.attempts.flatMap(({ retryAt }) => retryAt ?? []);
  const waitAfter = async (number: number) => {
    const retryAt = recorded[number - 1];
    if (retryAt === undefined) return;
    await branches.sleep(new Date(retryAt), signal);
  };
  const first = work.repeatsAttempts ? 1 : recorded.length + 1;
  await waitAfter(first - 1);
  for (let number = first; ; number += 1) {
    const attempt: StepAttempt = {
      number,
      startedAt: services.clock.now(),
      printed: [],
      notes: new Set(notes),
    };
    let outcome: StepOutcome;
    let isRetried = false;
    try {
      outcome = await work.attempt(started, attempt);
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      outcome = { error: replaceNul(secrets.redact(error.message)), code: error.code };
      isRetried = number <= retries.count && !isFinal(error.code);
    }
    if (isRetried && number <= recorded.length) {
      await waitAfter(number);
      continue;
    }
    const now = services.clock.now().getTime();
    const retryAt = isRetried ? new Date(now + retryWaitMs(retries, number)) : undefined;
    started.attempts.push({
      startedAt: attempt.startedAt.toISOString(),
      durationMs: Math.max(0, now - attempt.startedAt.getTime()),
      error: "error" in outcome ? outcome.error : null,
      ...(retryAt && { retryAt: retryAt.toISOString() }),
      ...(attempt.printed.length > 0 && { console: attempt.printed }),
      ...(attempt.notes.size > 0 && { notes: [...attempt.notes] }),
    });
    if (retryAt === undefined) return outcome;
    journal.showProgress(started, { attempts: started.attempts });
    await branches.sleep(retryAt, signal);
  }
}

// An agent's model gets only the message; a workflow also has the code.
function stepResult(kind: RunKind, outcome: StepOutcome): Pick<StepResult, "output" | "error"> {
  if ("text" in outcome) return { output: outcome.text, error: null };
  const { error, code } = outcome;
  return { output: JSON.stringify(kind === "agent" ? { error } : { error, code }), error };
}

type OutputRoom = {
  run: { kind: RunKind };
  journal: { bytes: { outputs: number } };
  tree: { journals: Iterable<{ bytes: { outputs: number } }> };
};

/** An output as redacted JSON text. If it is larger than 1 MiB, an agent's model gets a preview; a workflow's step fails. */
export async function storedOutput(kind: RunKind, output: Json, redactor?: Redactor): Promise<StepOutcome> {
  const stored = await storeOutput(output, { overflow: kind === "agent" ? "cut" : "reject" }, redactor);
  return "text" in stored ? stored : { error: stored.error, code: "output_too_large" };
}

/**
 * The outcome within the sum of the outputs of a run and of the runs in progress. Parallel calls add to the sum, so the
 * step must finish at once.
 */
export function limitOutput({ run, journal, tree }: OutputRoom, outcome: StepOutcome): StepOutcome {
  if (!("text" in outcome)) return outcome;
  let left = MAX_TREE_OUTPUTS_BYTES;
  for (const { bytes } of tree.journals) left -= bytes.outputs;
  const isAgent = run.kind === "agent";
  if (isAgent) left = Math.min(left, MAX_STEP_OUTPUTS_BYTES - journal.bytes.outputs);
  const bytes = Buffer.byteLength(outcome.text);
  if (bytes <= left) return outcome;
  if (isAgent) return { text: cutOutput(outcome.text, bytes) };
  const error = `The outputs of a run and of the runs in progress that it calls are larger than ${MAX_TREE_OUTPUTS_BYTES / MIB} MiB together.`;
  return { error, code: "output_too_large" };
}
