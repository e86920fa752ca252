import type { Step } from "@/server/base/db/generated/client";
import { type JsonObject, readJson, writeJson } from "@/server/base/json/json";
import { readLargeJson } from "@/server/base/json/large";
import type {
  AgentRunDetailsView,
  AgentRunStatusView,
  ToolRunResultView,
  ToolRunStatusView,
} from "@/server/contract/shapes";
import { TOOL_STATUS_INT } from "@/server/contract/shapes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { RunFacts } from "@/server/runs/run-facts";
import { toolConfiguration } from "@/server/work/agent/definition";
import { inferSchema } from "@/server/work/json-schema/infer-schema";

/** Renders rows as the contract's resources (docs/contract.md, "Fields"). */

export function agentRunStatus(run: RunFacts): AgentRunStatusView {
  return {
    id: run.id,
    agentId: run.agentId ?? "",
    status: run.status,
    userMessage: run.input,
    finalOutput: run.output,
    errorMessage: run.errorMessage,
    stepsExecuted: run.stepsExecuted,
    tokensUsed: run.inputTokens + run.outputTokens,
    actionsUsed: run.actionsUsed,
    creditsUsed: run.creditsUsed.toNumber(),
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.finishedAt?.toISOString() ?? null,
  };
}

export function agentRunDetails(run: RunFacts, steps: Step[]): AgentRunDetailsView {
  return {
    ...agentRunStatus(run),
    // Steps may finish during the read: the count is that of the listed steps.
    stepsExecuted: steps.length,
    steps: steps.map((step) => ({
      stepNumber: step.stepNumber,
      iterationNumber: step.iterationNumber,
      toolName: step.toolName,
      inputData: step.input,
      outputData: step.output ?? "null",
      reasoning: step.reasoning,
      tokenUsage: { inputTokens: step.inputTokens, outputTokens: step.outputTokens },
      duration: step.durationMs ?? 0,
    })),
  };
}

/** The contract has no number for Cancelled (docs/contract.md, "States"). */
function toolStatus(run: RunFacts) {
  const status = run.status === "Cancelled" ? "Failed" : run.status;
  const errorMessage =
    run.status === "Cancelled" ? `Cancelled by ${run.cancelledBy ?? "a user"}.` : run.errorMessage;
  return { status, statusInt: TOOL_STATUS_INT[status], errorMessage };
}

/** Milliseconds; 0 while pending. */
function duration(run: RunFacts, now: Date): number {
  if (run.startedAt === null) return 0;
  return Math.max(0, (run.finishedAt ?? now).getTime() - run.startedAt.getTime());
}

export function toolRunStatus(run: RunFacts, now: Date): ToolRunStatusView {
  return {
    id: run.id,
    toolId: run.toolId ?? "",
    ...toolStatus(run),
    tokensUsed: run.inputTokens + run.outputTokens,
    actionsUsed: run.actionsUsed,
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    finishedAt: run.finishedAt?.toISOString() ?? null,
    duration: duration(run, now),
  };
}

async function schemaOf(output: string | null, memory: StepMemory | undefined): Promise<JsonObject> {
  if (output === null) return {};
  await memory?.holdText(output);
  return inferSchema(await readLargeJson(output));
}

export async function toolRunResult(
  run: RunFacts,
  configuration: string,
  { now, memory }: { now: Date; memory: StepMemory | undefined },
): Promise<ToolRunResultView> {
  const { definition } = toolConfiguration.parse(readJson(configuration));
  const outputSchema = definition.outputSchema ?? (await schemaOf(run.output, memory));
  return {
    id: run.id,
    toolId: run.toolId ?? "",
    toolName: run.targetName,
    ...toolStatus(run),
    inputData: run.input,
    outputData: run.output ?? "null",
    outputSchema: writeJson(outputSchema),
    tokensUsed: run.inputTokens + run.outputTokens,
    actionsUsed: run.actionsUsed,
    duration: duration(run, now),
  };
}
