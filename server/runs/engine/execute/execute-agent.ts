import type { AgentConfiguration } from "@/server/agent/definition";
import { type Acted, type Acting, runAgentLoop } from "@/server/agent/loop";
import { ZERO } from "@/server/credits/amount";
import { retryPolicyOf } from "@/server/workflow/retry-policy";
import type { Outcome } from "../claimed-run";
import type { FinishedStep } from "../write/journal";
import { callModel } from "./calls/call-model";
import { callTool } from "./calls/call-run";
import { callStep } from "./calls/call-step";
import type { Execution } from "./execution";

/** Runs the agent loop with the run's journal: each model call and each call it requests is one row. */
export async function executeAgent(
  execution: Execution,
  configuration: AgentConfiguration,
): Promise<Outcome> {
  const { run, journal } = execution;
  let stepsBefore = 0;
  return runAgentLoop(configuration, run.input, {
    organizationId: run.orgId,
    async think({ iteration, closing, ...prompt }) {
      const key = closing ? "answer" : `think-${iteration}`;
      if (!journal.calls.has(key)) execution.checkpoint();
      const request = { model: configuration.model, ...prompt };
      return callModel(execution, { key, iteration, request });
    },
    async act(acting) {
      const first = stepsBefore + 1;
      stepsBefore += acting.calls.length;
      return act(execution, acting, first);
    },
  });
}

/** Executes the calls of one iteration in parallel, each as a step; completed ones are answered from the journal. */
async function act(execution: Execution, acting: Acting, firstStepNumber: number): Promise<Acted[]> {
  const { journal, strands } = execution;
  const keys = acting.calls.map((_, index) => `call-${acting.iteration}-${index + 1}`);
  if (keys.some((key) => !journal.steps.has(key))) execution.checkpoint();
  const usage = journal.calls.get(`think-${acting.iteration}`)?.usage ?? { inputTokens: 0, outputTokens: 0 };

  const execute = async (prepared: Acting["calls"][number], index: number): Promise<FinishedStep> => {
    const key = keys[index] ?? "";
    const finished = journal.steps.get(key);
    if (finished) return finished;
    const step = {
      key,
      stepNumber: firstStepNumber + index,
      iteration: acting.iteration,
      toolName: prepared.call.name,
      input: prepared.inputText,
      reasoning: acting.reasoning,
      usage,
    };
    if ("error" in prepared) {
      const begun = await journal.beginStep({ ...step, hasSideEffects: false });
      const output = JSON.stringify({ error: prepared.error });
      return journal.finishStep(begun, { output, error: prepared.error, actions: 0, credits: ZERO });
    }
    const { callable, input: args } = prepared;
    const stepCall = { ...step, args, retries: retryPolicyOf(callable.policy?.retries) };
    return callable.kind === "tool" ? callTool(execution, stepCall, callable) : callStep(execution, stepCall);
  };
  return strands.fork(acting.calls.map((prepared, index) => () => execute(prepared, index)));
}
