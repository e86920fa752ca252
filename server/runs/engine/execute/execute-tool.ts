import type { ToolConfiguration } from "@/server/agent/definition";
import { isJsonObject } from "@/server/json/json";
import { readLargeJson, stringifyLarge } from "@/server/json/large";
import { runWorkflow } from "@/server/workflow/interpret";
import type { WorkflowCall, WorkflowCallResult } from "@/server/workflow/journal";
import type { Outcome } from "../claimed-run";
import type { FinishedStep } from "../write/journal";
import { callStep } from "./calls/call-step";
import type { Execution } from "./execution";
import { forkAsStep } from "./run-step";

/** Runs a tool's workflow with the run's journal: each function call is one row. */
export async function executeTool(execution: Execution, configuration: ToolConfiguration): Promise<Outcome> {
  const { run, secrets } = execution;
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
      call: async (call) => resultOf(await act(execution, call, () => checkpoint(call))),
      fork: (works, act) => forkAsStep(execution, act, works),
    },
  });
  if (outcome.status === "Failed") return outcome;
  return { status: "Completed", output: await stringifyLarge(outcome.output) };
}

/**
 * Parallel calls count as one act, like the calls of one model answer. The first of every `width` calls of a step or
 * group passes the run's checkpoint. The next step always starts with one, even if the last one made fewer calls than
 * it might have.
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

async function act(execution: Execution, call: WorkflowCall, checkpoint: () => void): Promise<FinishedStep> {
  const { journal, secrets } = execution;
  const { key, functionName, input, retries, timeoutMs } = call;
  const stepNumber = journal.numberOf(key);
  const finished = journal.steps.get(key);
  if (finished) return finished;
  checkpoint();
  return callStep(execution, {
    key,
    stepNumber,
    iteration: 1,
    toolName: functionName,
    input: secrets.placeholders.describe(await stringifyLarge(input)),
    reasoning: "",
    usage: { inputTokens: 0, outputTokens: 0 },
    args: input,
    retries,
    timeoutMs: timeoutMs ?? undefined,
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
