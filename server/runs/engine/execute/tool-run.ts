import type { ToolConfiguration } from "@/server/agent/definition";
import { isJsonObject } from "@/server/json/json";
import { readLargeJson, stringifyLarge } from "@/server/json/large";
import { runWorkflow, type WorkflowCall, type WorkflowCallResult } from "@/server/workflow/interpret";
import type { FinishedStep } from "../write/journal";
import { createActCheckpoint } from "./calls/act-checkpoint";
import { callStep } from "./calls/call-step";
import type { Execution, Outcome } from "./execution";

/** Runs a tool's workflow with the run's journal: each function call is one row. */
export async function executeTool(execution: Execution, configuration: ToolConfiguration): Promise<Outcome> {
  const { run, strands, secrets } = execution;
  const input = await readLargeJson(run.input);
  const facts = {
    id: run.id,
    organizationId: run.orgId,
    startedAt: run.startedAt,
    toolName: configuration.name,
    signal: execution.signal,
    placeholderOf: (name: string) => secrets.placeholders.of(name),
  };
  const checkpoint = createActCheckpoint(execution.checkpoint);
  const outcome = await runWorkflow(configuration.definition, {
    input: isJsonObject(input) ? input : {},
    facts,
    journal: {
      call: async (call) => resultOf(await act({ ...execution, checkpoint: () => checkpoint(call) }, call)),
      fork: strands.fork,
    },
  });
  if (outcome.status === "Failed") return outcome;
  return { status: "Completed", output: await stringifyLarge(outcome.output) };
}

async function act(execution: Execution, call: WorkflowCall): Promise<FinishedStep> {
  const { services, journal, secrets } = execution;
  const { key, functionName: name, input, retries, timeoutMs } = call;
  const stepNumber = journal.numberOf(key);
  const finished = journal.steps.get(key);
  if (finished) return finished;
  execution.checkpoint();
  const step = {
    key,
    stepNumber,
    iteration: 1,
    toolName: name,
    input: secrets.placeholders.describe(await stringifyLarge(input)),
    reasoning: "",
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  return callStep(execution, step, {
    key,
    iteration: 1,
    name,
    input,
    retries,
    timeoutMs: timeoutMs ?? undefined,
    defaultModel: services.env.defaultModel,
    reader: "workflow",
  });
}

async function resultOf(step: FinishedStep): Promise<WorkflowCallResult> {
  const output = await readLargeJson(step.output);
  if (!step.failed) return { ok: true, output };
  const { error, code } = isJsonObject(output) ? output : {};
  return {
    ok: false,
    message: typeof error === "string" ? error : step.output,
    code: typeof code === "string" ? code : "failed",
  };
}
