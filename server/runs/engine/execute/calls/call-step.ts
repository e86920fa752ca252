import { findFunction } from "@/server/functions/registry";
import type { Execution } from "@/server/runs/engine/execute/execution";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import type { NewStep } from "@/server/runs/engine/write/journal-rows";
import { callFunction, type FunctionCall } from "./call-function";
import { callRun } from "./call-run";
import { callWait } from "./call-wait";

/** Executes a function as a step. Failures of the function are its result; only what ends the run's segment is thrown. */
export async function callStep(
  execution: Execution,
  step: Omit<NewStep, "childRunId" | "hasSideEffects">,
  call: FunctionCall,
): Promise<FinishedStep> {
  const { journal } = execution;
  const hasSideEffects = findFunction(call.name)?.hasSideEffects ?? false;
  const begun = await journal.beginStep({ ...step, childRunId: null, hasSideEffects });
  try {
    return await perform(execution, call, begun);
  } catch (error) {
    journal.abandon(begun);
    throw error;
  }
}

function perform(execution: Execution, call: FunctionCall, begun: BegunStep): Promise<FinishedStep> {
  const run = findFunction(call.name)?.run;
  if (run === undefined || typeof run === "function") return callFunction(execution, call, begun);
  if (run.engine === "wait") return callWait(execution, call, begun);
  return callRun(execution, { call, kind: run.engine }, begun);
}
