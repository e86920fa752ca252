import { parseFunctionInput } from "@/server/functions/execute";
import { FunctionError } from "@/server/functions/function-error";
import { waitFunction } from "@/server/functions/wait";
import type { Execution } from "@/server/runs/engine/execute/execution";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import { type ActionOutcome, failureOf, payForAction, recordAttempt } from "./action";
import type { FunctionCall } from "./call-function";

/**
 * Waits until a time as a step. It counts from the step's beginning, which its row holds. So a worker that takes the
 * run over waits only for the rest.
 */
export function callWait(execution: Execution, call: FunctionCall, begun: BegunStep): Promise<FinishedStep> {
  return payForAction(execution, begun, { reader: call.reader, work: () => wait(execution, call, begun) });
}

async function wait(execution: Execution, call: FunctionCall, begun: BegunStep): Promise<ActionOutcome> {
  const { signal, journal, strands, services } = execution;
  const beganAt = begun.startedAt;
  let outcome: ActionOutcome;
  try {
    const until = readTime(execution, call, beganAt);
    if (until.getTime() > services.clock.now().getTime()) {
      journal.showProgress(begun);
      await strands.sleep(until, signal);
    }
    outcome = { text: JSON.stringify({ until: until.toISOString() }) };
  } catch (error) {
    if (!(error instanceof FunctionError)) throw error;
    outcome = failureOf(error, execution.secrets.redact);
  }
  const error = "error" in outcome ? outcome.error : null;
  recordAttempt(execution, begun, { startedAt: new Date(beganAt), error });
  return outcome;
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
