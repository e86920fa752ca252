import type { ToolConfiguration } from "@/server/agent/definition";
import { isJsonObject, type Json } from "@/server/json";
import { MAX_FINAL_OUTPUT_BYTES } from "@/server/limits/sizes";
import { runWorkflow, type WorkflowCall, type WorkflowCallResult } from "@/server/workflow/interpret";
import { callFunction, storeWhole } from "./call-function";
import type { Execution, Outcome } from "./execution";
import type { FinishedStep } from "./journal";

/** Runs a tool's workflow with the run's journal: each function call is one row. */
export async function executeTool(execution: Execution, configuration: ToolConfiguration): Promise<Outcome> {
  const { run } = execution;
  const input: Json = JSON.parse(run.input);
  let stepsBefore = 0;
  const facts = {
    id: run.id,
    organizationId: run.orgId,
    startedAt: run.startedAt,
    toolName: configuration.name,
    signal: execution.signal,
  };
  const outcome = await runWorkflow(configuration.definition, isJsonObject(input) ? input : {}, facts, {
    async call(calls) {
      const first = stepsBefore + 1;
      stepsBefore += calls.length;
      const steps = await act(execution, calls, first);
      return steps.map(resultOf);
    },
  });
  if (outcome.status === "Failed") return outcome;
  const output = JSON.stringify(outcome.output);
  if (Buffer.byteLength(output) > MAX_FINAL_OUTPUT_BYTES) {
    const message = `The final output is larger than ${MAX_FINAL_OUTPUT_BYTES} bytes.`;
    return { status: "Failed", code: "output_too_large", message };
  }
  return { status: "Completed", output };
}

async function act(
  execution: Execution,
  calls: WorkflowCall[],
  firstStepNumber: number,
): Promise<FinishedStep[]> {
  const { services, journal } = execution;
  if (calls.some(({ key }) => !journal.steps.has(key))) execution.checkpoint();
  const execute = async (call: WorkflowCall, index: number): Promise<FinishedStep> => {
    const finished = journal.steps.get(call.key);
    if (finished) return finished;
    const begun = await journal.beginStep({
      key: call.key,
      stepNumber: firstStepNumber + index,
      iteration: 1,
      toolName: call.functionName,
      input: JSON.stringify(call.input),
      reasoning: "",
      usage: { inputTokens: 0, outputTokens: 0 },
      childRunId: null,
    });
    try {
      const functionCall = {
        key: call.key,
        iteration: 1,
        name: call.functionName,
        input: call.input,
        retries: call.retries,
        timeoutMs: call.timeoutMs ?? undefined,
        defaultModel: services.env.defaultModel,
      };
      return await callFunction(execution, functionCall, begun, storeWhole);
    } catch (error) {
      journal.abandon(begun);
      throw error;
    }
  };
  const settled = await Promise.allSettled(calls.map(execute));
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

function resultOf(step: FinishedStep): WorkflowCallResult {
  const output: Json = JSON.parse(step.output);
  if (!step.failed) return { ok: true, output };
  const error = isJsonObject(output) ? output.error : undefined;
  return { ok: false, message: typeof error === "string" ? error : step.output };
}
