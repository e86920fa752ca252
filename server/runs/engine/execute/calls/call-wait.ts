import { ZERO } from "@/server/credits/amount";
import { creditsOfActions } from "@/server/credits/prices";
import { parseFunctionInput } from "@/server/functions/execute";
import { FunctionError } from "@/server/functions/function-error";
import { waitFunction } from "@/server/functions/wait";
import { exactly } from "@/server/runs/engine/execute/budget";
import type { Execution } from "@/server/runs/engine/execute/execution";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import { type FunctionCall, failureOf, stepResult } from "./call-function";

/**
 * Waits until a time as a step. It counts from the step's beginning, which its row holds, so that a worker that takes the run
 * over waits only for the rest.
 */
export async function callWait(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
): Promise<FinishedStep> {
  const { budget, run, signal, journal, strands, services } = execution;
  const price = creditsOfActions(run.prices, 1);
  const reserved = await budget.reserve(exactly(price));
  const beganAt = begun.startedAt;
  let result: Parameters<typeof stepResult>[0];
  try {
    const until = readTime(execution, call, beganAt);
    if (until.getTime() > services.clock.now().getTime()) {
      journal.showProgress(begun);
      await strands.sleep(until, signal);
    }
    result = { text: JSON.stringify({ until: until.toISOString() }) };
  } catch (error) {
    if (!(error instanceof FunctionError)) {
      await budget.spend(reserved, ZERO);
      throw error;
    }
    result = failureOf(error, execution.secrets.redact);
  }
  const credits = await budget.spend(reserved, price);
  signal.throwIfAborted();
  const now = services.clock.now().getTime();
  begun.attempts.push({
    startedAt: new Date(beganAt).toISOString(),
    durationMs: Math.max(0, now - beganAt),
    error: "error" in result ? result.error : null,
  });
  return journal.finishStep(begun, { ...stepResult(result, call), credits });
}

/** When the wait is over. Throws FunctionError. */
function readTime({ deadline }: Execution, { input, timeoutMs }: FunctionCall, beganAt: number): Date {
  const { seconds, until } = parseFunctionInput(waitFunction, input);
  const time = until === undefined ? new Date(beganAt + (seconds ?? 0) * 1000) : new Date(until);
  if (time > deadline) {
    const message = `The wait until ${time.toISOString()} would end after the run's deadline, ${deadline.toISOString()}. Raise deadlineSeconds.`;
    throw new FunctionError("past_deadline", message);
  }
  if (timeoutMs !== undefined && time.getTime() > beganAt + timeoutMs) {
    throw new FunctionError("timeout", `wait would take longer than ${timeoutMs} ms.`);
  }
  return time;
}
