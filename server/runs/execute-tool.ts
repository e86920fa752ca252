import type { ToolConfiguration } from "@/server/agent/definition";
import { isJsonObject, type Json } from "@/server/json";
import { MAX_FINAL_OUTPUT_BYTES } from "@/server/limits/sizes";
import { runWorkflow, type WorkflowCall } from "@/server/workflow/interpret";
import { callFunction, storeWhole } from "./call-function";
import type { Execution } from "./execution";
import { beginSteps, type StoredStep } from "./journal";
import type { Outcome } from "./lifecycle";

/** Drives a tool's workflow over the run's rows: each batch of calls is one remembered step, `act-n`. */
export async function executeTool(execution: Execution, configuration: ToolConfiguration): Promise<Outcome> {
  const { run, services } = execution;
  const input: Json = JSON.parse(run.input);
  let batches = 0;
  let stepsBefore = 0;
  const facts = {
    id: run.id,
    organizationId: run.orgId,
    startedAt: run.startedAt,
    toolName: configuration.name,
  };
  const outcome = await runWorkflow(configuration.definition, isJsonObject(input) ? input : {}, facts, {
    async call(calls) {
      batches += 1;
      const first = stepsBefore + 1;
      stepsBefore += calls.length;
      await execution.durably(`act-${batches}`, () =>
        act(execution, calls, first, services.env.defaultModel),
      );
      return calls.map(({ key }) => resultOf(execution, key));
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
  defaultModel: string,
): Promise<void> {
  const open = calls
    .map((call, index) => ({ call, stepNumber: firstStepNumber + index }))
    .filter(({ call }) => !execution.steps.has(call.key));
  await beginSteps(
    execution.services,
    execution.run,
    open.map(({ call, stepNumber }) => ({
      key: call.key,
      stepNumber,
      iteration: 1,
      toolName: call.functionName,
      input: JSON.stringify(call.input),
      reasoning: "",
      usage: { inputTokens: 0, outputTokens: 0 },
      childRunId: null,
      attempts: execution.interrupted.get(call.key) ?? [],
    })),
  );
  const settled = await Promise.allSettled(
    open.map(({ call, stepNumber }): Promise<StoredStep> => {
      const { key, functionName: name, input, retries, timeoutMs } = call;
      const functionCall = {
        key,
        stepNumber,
        iteration: 1,
        name,
        input,
        retries,
        timeoutMs: timeoutMs ?? undefined,
        defaultModel,
      };
      return callFunction(execution, functionCall, storeWhole);
    }),
  );
  for (const result of settled) if (result.status === "rejected") throw result.reason;
}

function resultOf(execution: Execution, key: string) {
  const step = execution.steps.get(key);
  if (step === undefined) throw new Error(`run ${execution.run.id} has no finished step ${key}`);
  const output: Json = JSON.parse(step.output);
  if (!step.failed) return { ok: true, output } as const;
  const error = isJsonObject(output) ? output.error : undefined;
  return { ok: false, message: typeof error === "string" ? error : step.output } as const;
}
