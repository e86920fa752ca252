import { FunctionError } from "@/server/work/functions/core/define";
import { parseFunctionInput } from "@/server/work/functions/core/execute";
import { findFunction } from "@/server/work/functions/core/registry";
import { waitFunction } from "@/server/work/functions/wait";
import type { StartedStep } from "../../write/journal";
import type { FinishedStep } from "../../write/journal-contents";
import type { Execution } from "../execution";
import { runStep } from "../run-step";
import { attemptFunction } from "./call-function";
import { callRun } from "./call-run";
import { performStep, type StepCall, type StepOutcome } from "./perform-step";

export function callStep(execution: Execution, call: StepCall): Promise<FinishedStep> {
  const { run, hasSideEffects = false } = findFunction(call.toolName) ?? {};
  if (run === undefined || typeof run === "function") {
    const name = execution.run.kind === "tool" ? `${call.key} · ${call.toolName}` : call.toolName;
    return runStep(execution, { key: call.key, name }, () =>
      performStep(execution, call, {
        hasSideEffects,
        attempt: (_started, attempt) => attemptFunction(execution, call, attempt),
      }),
    );
  }
  // A run that is called holds its own memory: it must not wait for its caller's.
  call.memory.releaseWithGroups();
  if (run.engine !== "wait") return callRun(execution, call, run.engine);
  const once = { ...call, retries: { ...call.retries, count: 0 } };
  return performStep(execution, once, {
    hasSideEffects,
    attempt: (started, attempt) => {
      attempt.startedAt = new Date(started.startedAt);
      return wait(execution, call, started);
    },
  });
}

/**
 * Counts from the beginning in the step's row, so a worker that takes over waits only for the rest. Throws
 * FunctionError.
 */
async function wait(
  { signal, journal, branches, services, deadline }: Execution,
  { args, timeoutMs }: StepCall,
  started: StartedStep,
): Promise<StepOutcome> {
  const { seconds, until } = parseFunctionInput(waitFunction, args);
  const time = until === undefined ? new Date(started.startedAt + (seconds ?? 0) * 1000) : new Date(until);
  const text = time.toISOString();
  if (time > deadline) {
    const message = `The wait until ${text} would end after the run's deadline, ${deadline.toISOString()}. Raise deadlineSeconds.`;
    throw new FunctionError("past_deadline", message);
  }
  if (timeoutMs !== undefined && time.getTime() > started.startedAt + timeoutMs) {
    throw new FunctionError("timeout", `wait would take longer than ${timeoutMs} ms.`);
  }
  if (time > services.clock.now()) {
    journal.showProgress(started);
    await branches.sleep(time, signal);
  }
  return { text: JSON.stringify({ until: text }) };
}
