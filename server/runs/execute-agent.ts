import type { AgentConfiguration } from "@/server/agent/definition";
import { type Acted, type Acting, runAgentLoop, type Thinking, type Thought } from "@/server/agent/loop";
import { ZERO } from "@/server/credits/amount";
import { newId } from "@/server/ids";
import { MAX_FINAL_OUTPUT_BYTES } from "@/server/limits/sizes";
import { callFunction, storeCut } from "./call-function";
import { callTool } from "./call-tool";
import { callModel, type Execution } from "./execution";
import { beginSteps, finishStep, type StoredStep } from "./journal";
import type { Outcome } from "./lifecycle";

/**
 * Drives the agent loop over the run's rows: an iteration is two remembered steps, `think-n` and `act-n`; inside
 * the second the calls run in parallel, each over its own row (engine.md, "How the loop sits on the engine").
 */
export async function executeAgent(
  execution: Execution,
  configuration: AgentConfiguration,
): Promise<Outcome> {
  let stepsBefore = 0;
  const outcome = await runAgentLoop(configuration, execution.run.input, {
    organizationId: execution.run.orgId,
    async think(thinking) {
      const key = thinking.closing ? "answer" : `think-${thinking.iteration}`;
      await execution.durably(key, () => think(execution, configuration, key, thinking));
      return finishedThought(execution, key);
    },
    async act(acting) {
      const first = stepsBefore + 1;
      stepsBefore += acting.calls.length;
      await execution.durably(`act-${acting.iteration}`, () => act(execution, configuration, acting, first));
      return acting.calls.map((_, index) => finishedStep(execution, callKey(acting, index)));
    },
  });
  if (outcome.status === "Completed" && Buffer.byteLength(outcome.output) > MAX_FINAL_OUTPUT_BYTES) {
    const message = `The final output is larger than ${MAX_FINAL_OUTPUT_BYTES} bytes.`;
    return { status: "Failed", code: "output_too_large", message };
  }
  return outcome;
}

function callKey(acting: Acting, index: number): string {
  return `call-${acting.iteration}-${index + 1}`;
}

async function think(
  execution: Execution,
  configuration: AgentConfiguration,
  key: string,
  { iteration, messages, tools }: Thinking,
): Promise<void> {
  await callModel(execution, key, iteration, { model: configuration.model, messages, tools });
}

function finishedThought(execution: Execution, key: string): Thought {
  const thought = execution.modelCalls.get(key);
  if (thought === undefined) throw new Error(`run ${execution.run.id} has no finished model call ${key}`);
  return thought;
}

function finishedStep(execution: Execution, key: string): Acted {
  const step = execution.steps.get(key);
  if (step === undefined) throw new Error(`run ${execution.run.id} has no finished step ${key}`);
  return step;
}

async function act(
  execution: Execution,
  configuration: AgentConfiguration,
  acting: Acting,
  firstStepNumber: number,
): Promise<void> {
  const { services, run } = execution;
  const usage = execution.modelCalls.get(`think-${acting.iteration}`)?.usage ?? {
    inputTokens: 0,
    outputTokens: 0,
  };
  const open = acting.calls
    .map((call, index) => ({ call, key: callKey(acting, index), stepNumber: firstStepNumber + index }))
    .filter(({ key }) => !execution.steps.has(key));
  const children = await beginSteps(
    services,
    run,
    open.map(({ call, key, stepNumber }) => ({
      key,
      stepNumber,
      iteration: acting.iteration,
      toolName: call.call.name,
      input: call.inputText,
      reasoning: acting.reasoning,
      usage,
      childRunId: "callable" in call && call.callable.kind === "tool" ? newId() : null,
      attempts: execution.interrupted.get(key) ?? [],
    })),
  );
  // All calls come to rest before an error of one ends the step: nothing writes behind the run's end.
  const settled = await Promise.allSettled(
    open.map(async ({ call, key, stepNumber }): Promise<StoredStep> => {
      if ("error" in call) {
        const output = JSON.stringify({ error: call.error });
        await finishStep(services, run, key, {
          output,
          error: call.error,
          actions: 0,
          credits: ZERO,
          attempts: execution.interrupted.get(key) ?? [],
        });
        const finished = { key, stepNumber, output, failed: true };
        execution.steps.set(key, finished);
        return finished;
      }
      const step = { key, stepNumber, iteration: acting.iteration };
      if (call.callable.kind === "tool") {
        return callTool(
          execution,
          { ...step, childRunId: children.get(key) ?? null },
          call.callable,
          call.input,
        );
      }
      const { name } = call.callable;
      return callFunction(
        execution,
        { ...step, name, input: call.input, retries: 0, defaultModel: configuration.model },
        storeCut,
      );
    }),
  );
  for (const result of settled) if (result.status === "rejected") throw result.reason;
}
