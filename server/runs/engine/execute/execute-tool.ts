import { isJsonObject, type JsonObject, tryParseJson } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import type { ToolConfiguration } from "@/server/work/agent/definition";
import { fillInSecrets } from "@/server/work/workflow/changed-input";
import { runWorkflow } from "@/server/work/workflow/interpret";
import type { WorkflowCall, WorkflowCallResult } from "@/server/work/workflow/journal";
import type { Outcome } from "../claimed-run";
import type { FinishedStep } from "../write/journal-contents";
import { answerFromRecord } from "./answer-from-record";
import { callStep } from "./calls/call-step";
import type { Execution } from "./execution";
import { forkAsStep } from "./run-step";

/** Runs a tool's workflow with the run's journal: each function call is one row. */
export async function executeTool(execution: Execution, configuration: ToolConfiguration): Promise<Outcome> {
  const { run, secrets, memory, signal } = execution;
  const facts = {
    id: run.id,
    organizationId: run.orgId,
    startedAt: run.startedAt,
    toolName: configuration.name,
    memory,
    signal,
    placeholderOf: (name: string) => secrets.placeholders.of(name),
  };
  const checkpoint = createActCheckpoint(execution.checkpoint);
  return runWorkflow(configuration.definition, {
    input: run.input,
    pinned: configuration.pinned,
    past: configuration.fork?.past,
    facts,
    journal: {
      call: async (call) => resultOf(await executeStepCall(execution, call, () => checkpoint(call))),
      skip: ({ key, functionName, note }) =>
        execution.journal.skipStep({ key, toolName: functionName, input: JSON.stringify(note) }),
      fork: (works, call) => forkAsStep(execution, call, works),
    },
  });
}

/**
 * Calls the checkpoint once for every `width` parallel calls of a step or group, as for the calls of one model
 * answer. The next step always starts with one.
 */
export function createActCheckpoint(
  checkpoint: () => void,
): (call: Pick<WorkflowCall, "act" | "width">) => void {
  let act: string | undefined;
  let left = 0;
  return (call) => {
    if (call.act !== act || left === 0) {
      checkpoint();
      act = call.act;
      left = call.width;
    }
    left -= 1;
  };
}

async function executeStepCall(
  execution: Execution,
  call: WorkflowCall,
  checkpoint: () => void,
): Promise<FinishedStep> {
  const { journal, secrets, record } = execution;
  const { key, functionName, retries, timeoutMs, memory, notes } = call;
  const args = changedInput(execution, key) ?? call.input;
  const stepNumber = journal.numbers.stepNumber(key);
  const finished = journal.steps.get(key);
  if (finished !== undefined && record === undefined) return finished;
  if (finished === undefined) checkpoint();
  const step = {
    key,
    stepNumber,
    iteration: 1,
    toolName: functionName,
    input: secrets.placeholders.describe(await stringifyLarge(args)),
    reasoning: "",
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  // Finished calls take their part of the record, too.
  const recorded = record?.take({ key, name: functionName, input: step.input });
  if (finished !== undefined) return finished;
  if (record !== undefined) return answerFromRecord(execution, step, recorded);
  return callStep(execution, {
    ...step,
    args,
    memory,
    retries,
    timeoutMs: timeoutMs ?? undefined,
    notes,
  });
}

function changedInput({ run, secrets }: Execution, key: string): JsonObject | undefined {
  const { configuration } = run;
  const { definition, fork } = configuration.kind === "tool" ? configuration : {};
  const input = fork?.inputs && Object.hasOwn(fork.inputs, key) ? fork.inputs[key] : undefined;
  if (input === undefined || definition === undefined) return undefined;
  return fillInSecrets({ definition, key, input }, (name) => secrets.placeholders.of(name));
}

function resultOf({ output, failed }: FinishedStep): WorkflowCallResult {
  if (!failed) return { ok: true, output };
  const parsed = tryParseJson(output);
  const { error, code } = isJsonObject(parsed) ? parsed : {};
  return {
    ok: false,
    message: typeof error === "string" ? error : output,
    code: typeof code === "string" ? code : "failed",
  };
}
