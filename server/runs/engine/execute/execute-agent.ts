import { ZERO } from "@/server/base/amount";
import type { AgentConfiguration } from "@/server/work/agent/definition";
import { runAgentLoop, type ToolResult, type ToolRound } from "@/server/work/agent/loop";
import { modelSettings } from "@/server/work/models/settings";
import { retryPolicyOf } from "@/server/work/workflow/retry-policy";
import type { Outcome } from "../claimed-run";
import type { FinishedStep } from "../write/journal-contents";
import { answerFromRecord } from "./answer-from-record";
import { callModel } from "./calls/call-model";
import { callTool } from "./calls/call-run";
import { callStep } from "./calls/call-step";
import type { Execution } from "./execution";
import { forkAsStep, nameStep, runStep } from "./run-step";

/** Runs the agent loop with the run's journal: each model call and each call it requests is one row. */
export async function executeAgent(
  execution: Execution,
  configuration: AgentConfiguration,
): Promise<Outcome> {
  const { run, journal } = execution;
  const { model, fallbackModels } = configuration;
  const { maxOutputTokens, ...settings } = modelSettings.parse(configuration);
  let stepsBefore = 0;
  return runAgentLoop(configuration, run.input, {
    organizationId: run.orgId,
    async callModel({ iteration, closing, ...prompt }) {
      const key = closing ? "answer" : `think-${iteration}`;
      const finished = journal.calls.get(key);
      if (finished) return finished;
      execution.checkpoint();
      const request = { model, fallbackModels, settings, maxOutputTokens, ...prompt };
      const name = `model ${iteration} · ${model}`;
      const memory = execution.memory.openStep();
      const call = () =>
        callModel(execution, { key, iteration, request, memory }).finally(() => memory.release());
      return execution.steps.run(nameStep(execution, { key, name }), call, ({ content, toolCalls }) => ({
        status: "Completed",
        bytes: Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(toolCalls)),
      }));
    },
    async callTools(round) {
      const first = stepsBefore + 1;
      stepsBefore += round.calls.length;
      return executeRound(execution, round, first);
    },
  });
}

// Completed calls are answered from the journal.
async function executeRound(
  execution: Execution,
  round: ToolRound,
  firstStepNumber: number,
): Promise<ToolResult[]> {
  const { journal, record } = execution;
  const recorded = record?.takeAll(
    round.calls.map(({ call, inputText }) => ({ name: call.name, input: inputText })),
  );
  const keys = round.calls.map((_, index) => `call-${round.iteration}-${index + 1}`);
  const finished = keys.flatMap((key) => journal.steps.get(key) ?? []);
  if (finished.length === keys.length) return finished;
  execution.checkpoint();
  const usage = journal.calls.get(`think-${round.iteration}`)?.usage ?? { inputTokens: 0, outputTokens: 0 };

  const performCall = async (prepared: ToolRound["calls"][number], index: number): Promise<FinishedStep> => {
    const key = keys[index] ?? "";
    const finished = journal.steps.get(key);
    if (finished) return finished;
    const step = {
      key,
      stepNumber: firstStepNumber + index,
      iteration: round.iteration,
      toolName: prepared.call.name,
      input: prepared.inputText,
      reasoning: round.reasoning,
      usage,
    };
    if ("error" in prepared) {
      const { error } = prepared;
      return runStep(execution, { key, name: step.toolName }, async () => {
        const started = await journal.beginStep({ ...step, hasSideEffects: false });
        const output = JSON.stringify({ error });
        return journal.finishStep(started, { output, error, actions: 0, credits: ZERO });
      });
    }
    if (recorded !== undefined) return answerFromRecord(execution, step, recorded[index]);
    const { callable, input: args, notes } = prepared;
    const memory = execution.memory.openStep();
    const stepCall = { ...step, args, memory, retries: retryPolicyOf(callable.policy?.retries), notes };
    const called =
      callable.kind === "tool" ? callTool(execution, stepCall, callable) : callStep(execution, stepCall);
    return called.finally(() => memory.release());
  };
  const works = round.calls.map((prepared, index) => () => performCall(prepared, index));
  const names = round.calls.map(({ call }) => call.name);
  const name = `${names.length} calls: ${names.join(", ")}`;
  return forkAsStep(execution, { key: `calls-${round.iteration}`, name }, works);
}
