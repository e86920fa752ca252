import { ZERO } from "@/server/credits/amount";
import { creditsOfActions } from "@/server/credits/prices";
import { codeOfFailure, isFinal } from "@/server/functions/function-error";
import type { Json } from "@/server/json/json";
import { exactly } from "@/server/runs/engine/execute/budget";
import type { Execution } from "@/server/runs/engine/execute/execution";
import { pauseAt } from "@/server/runs/engine/pause-points";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import type { StepResult } from "@/server/runs/engine/write/journal-rows";
import type { Redact } from "@/server/secrets/redact";
import { replaceNul, storeOutput } from "@/server/secrets/stored-output";
import { sleepOrThrow } from "@/server/sleep";
import { type RetryPolicy, retryWaitMs } from "@/server/workflow/retry-policy";

/**
 * Who reads the output of an action. If it is too large, an agent's model gets a preview, and a workflow's step fails
 * with a code.
 */
export type Reader = "agent" | "workflow";

/** What an action returned, or why it failed. */
export type ActionOutcome = { text: string } | Failure;

export type Failure = { error: string; code: string };

/** The failure of an action that threw. */
export function failureOf(error: unknown, redact: Redact): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { error: replaceNul(redact(message)), code: codeOfFailure(error) };
}

/** An output as it is stored: redacted JSON text that fits, or the failure of one that does not. */
export async function storedOutput(output: Json, reader: Reader, redact?: Redact): Promise<ActionOutcome> {
  const stored = await storeOutput(output, reader === "agent" ? "cut" : "refuse", redact);
  return "text" in stored ? stored : { error: stored.error, code: "output_too_large" };
}

/** Finishes a step with the outcome of `work`, and pays one action; nothing if `work` throws. */
export async function payForAction(
  { run, budget, signal, journal }: Execution,
  begun: BegunStep,
  { reader, work }: { reader: Reader; work: () => Promise<ActionOutcome> },
): Promise<FinishedStep> {
  const price = creditsOfActions(run.prices, 1);
  const reserved = await budget.reserve(exactly(price));
  const outcome = await work().catch(async (error: unknown) => {
    // A tool that ends at its cap returns what it had reserved to its caller.
    await budget.spend(reserved, ZERO);
    throw error;
  });
  const credits = await budget.spend(reserved, price);
  await pauseAt("act:after");
  signal.throwIfAborted();
  return journal.finishStep(begun, { ...stepResult(outcome, reader), credits });
}

function stepResult(outcome: ActionOutcome, reader: Reader): Omit<StepResult, "credits"> {
  if ("text" in outcome) return { output: outcome.text, error: null, actions: 1 };
  const { error, code } = outcome;
  const output = JSON.stringify(reader === "agent" ? { error } : { error, code });
  return { output, error, actions: 1 };
}

/** An attempt that has ended: its error if it failed, when the next one follows, and what its code printed. */
type EndedAttempt = {
  startedAt: Date;
  error: string | null;
  retryInMs?: number;
  printed?: readonly string[];
};

/** Adds an attempt that has just ended to the step's record. */
export function recordAttempt(
  { services }: Execution,
  begun: BegunStep,
  { startedAt, error, retryInMs, printed = [] }: EndedAttempt,
): void {
  const now = services.clock.now().getTime();
  begun.attempts.push({
    startedAt: startedAt.toISOString(),
    durationMs: Math.max(0, now - startedAt.getTime()),
    error,
    ...(retryInMs !== undefined && { retryAt: new Date(now + retryInMs).toISOString() }),
    ...(printed.length > 0 && { console: [...printed] }),
  });
}

/** Whether a retry may follow a failed attempt. The first attempt is number 1. */
export function isRetried(retries: RetryPolicy, attempt: number, failure: Failure): boolean {
  return attempt <= retries.count && !isFinal(failure.code);
}

/** Records a failed attempt that a retry follows, and waits until the retry is due. */
export async function waitForRetry(
  execution: Execution,
  begun: BegunStep,
  { retries, attempt, ...ended }: EndedAttempt & { retries: RetryPolicy; attempt: number },
): Promise<void> {
  const retryInMs = retryWaitMs(retries, attempt);
  recordAttempt(execution, begun, { ...ended, retryInMs });
  execution.journal.showProgress(begun, { attempts: begun.attempts });
  await sleepOrThrow(retryInMs, execution.signal);
}
