import type { Decimal } from "@/server/base/amount";
import { tryParseJson, writeJson } from "@/server/base/json/json";
import { parseTraceParent, spanIdOf, traceIdOf } from "@/server/base/trace-context";
import type { RunKind, RunSource, RunStatus, StepStatus } from "@/server/contract/enums";
import type { ToolCall } from "@/server/work/models/port";
import type { Span } from "./otlp";

/**
 * The spans of a run, by the conventions for generative AI at commit 024a4f94 (model/gen-ai/spans.yaml in
 * https://github.com/open-telemetry/semantic-conventions-genai/tree/024a4f944a1291fcb627c9c47da69e79868dd15e), and by
 * the changelog of v0.1.0, which replaced `gen_ai.workflow.name` with `gen_ai.agent.name`. `gen_ai.request.stream` is
 * left out, because it is not stored. Ids are functions of the rows' ids: an export that is repeated gives the same
 * spans.
 */

export type TracedRun = {
  id: string;
  rootRunId: string;
  /** With which the root run was started. */
  traceParent: string | null;
  /** Null: a root run. */
  parent: { runId: string; stepKey: string } | null;
  organization: string;
  kind: RunKind;
  name: string;
  targetId: string;
  version: number;
  status: RunStatus;
  source: RunSource;
  errorCode: string | null;
  /** Null without the setting for contents. */
  errorMessage: string | null;
  inputTokens: number;
  outputTokens: number;
  credits: Decimal;
  startedAt: Date;
  finishedAt: Date;
  /** Null without the setting for contents. */
  contents: { input: string; output: string | null } | null;
};

type Timed = {
  runId: string;
  key: string;
  status: StepStatus;
  /** Null without the setting for contents. */
  errorMessage: string | null;
  startedAt: Date;
  finishedAt: Date;
};

export type TracedStep = Timed & {
  name: string;
  contents: { input: string; output: string | null } | null;
};

export type TracedCall = Timed & {
  provider: string;
  model: string;
  finishReason: string | null;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  /** Null without the setting for contents. */
  reply: { text: string; toolCalls: ToolCall[] } | null;
};

const OPERATIONS = { agent: "invoke_agent", tool: "invoke_workflow" } as const;

/** The conventions' names of providers that have others in the model catalog or in everyday use. */
const PROVIDERS = new Map([
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["gemini", "gcp.gemini"],
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["moonshotai", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

/** The spans of a run's steps and model calls. */
export function spansOfRows(
  run: TracedRun,
  { calls = [], steps = [] }: { calls?: readonly TracedCall[]; steps?: readonly TracedStep[] },
): Span[] {
  const common = { traceId: traceIdOf(run), parentSpanId: spanIdOf(run.id) };
  return [
    ...calls.map((call) => ({ ...common, ...callSpan(call) })),
    ...steps.map((step) => ({ ...common, ...stepSpan(step, run) })),
  ];
}

export function runSpan(run: TracedRun): Span {
  const { kind, name, status } = run;
  const isAgent = kind === "agent";
  return {
    traceId: traceIdOf(run),
    spanId: spanIdOf(run.id),
    parentSpanId: run.parent
      ? spanIdOf(run.parent.runId, run.parent.stepKey)
      : (parseTraceParent(run.traceParent)?.spanId ?? null),
    name: `${OPERATIONS[kind]} ${name}`,
    kind: "internal",
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    attributes: {
      "gen_ai.operation.name": OPERATIONS[kind],
      // Spans of kind internal have neither id nor version, and no model, as an agent has fallback models.
      "gen_ai.agent.name": name,
      "gen_ai.usage.input_tokens": isAgent ? run.inputTokens : null,
      "gen_ai.usage.output_tokens": isAgent ? run.outputTokens : null,
      "gen_ai.input.messages":
        isAgent && run.contents
          ? JSON.stringify([{ role: "user", parts: textParts(run.contents.input) }])
          : null,
      "gen_ai.output.messages":
        isAgent && run.contents?.output ? outputMessages(textParts(run.contents.output), "stop") : null,
      "stepwell.input": isAgent ? null : run.contents?.input,
      "stepwell.output": isAgent ? null : run.contents?.output,
      "stepwell.organization": run.organization,
      "stepwell.run.id": run.id,
      "stepwell.run.source": run.source,
      "stepwell.run.status": status,
      "stepwell.target.id": run.targetId,
      "stepwell.target.version": run.version,
      "stepwell.credits": { double: run.credits.toNumber() },
      "error.type": status === "Failed" ? (run.errorCode ?? "_OTHER") : null,
    },
    error: status === "Failed" ? (run.errorMessage ?? "") : null,
  };
}

type OwnSpan = Omit<Span, "traceId" | "parentSpanId">;

function callSpan(call: TracedCall): OwnSpan {
  const hasFailed = call.status === "Failed";
  const finishReason = call.finishReason ?? (hasFailed ? "error" : null);
  return {
    spanId: spanIdOf(call.runId, call.key),
    name: `chat ${call.model}`,
    kind: "client",
    startedAt: call.startedAt,
    finishedAt: call.finishedAt,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": PROVIDERS.get(call.provider) ?? call.provider,
      "gen_ai.request.model": call.model,
      "gen_ai.response.finish_reasons": finishReason === null ? null : [finishReason],
      "gen_ai.usage.input_tokens": call.inputTokens,
      "gen_ai.usage.output_tokens": call.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": call.cachedInputTokens || null,
      "gen_ai.usage.cache_write.input_tokens": call.cacheWriteTokens || null,
      "gen_ai.usage.reasoning.output_tokens": call.reasoningTokens || null,
      "gen_ai.output.messages": call.reply && outputMessages(partsOf(call.reply), finishReason),
      "stepwell.key": call.key,
      "error.type": hasFailed ? "_OTHER" : null,
    },
    error: hasFailed ? (call.errorMessage ?? "") : null,
  };
}

function stepSpan(step: TracedStep, { kind, name }: Pick<TracedRun, "kind" | "name">): OwnSpan {
  const hasFailed = step.status === "Failed";
  return {
    spanId: spanIdOf(step.runId, step.key),
    name: `execute_tool ${step.name}`,
    kind: "internal",
    startedAt: step.startedAt,
    finishedAt: step.finishedAt,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.agent.name": kind === "agent" ? name : null,
      "gen_ai.tool.name": step.name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": step.key,
      "gen_ai.tool.call.arguments": step.contents?.input,
      "gen_ai.tool.call.result": step.contents?.output,
      "error.type": hasFailed ? "_OTHER" : null,
    },
    error: hasFailed ? (step.errorMessage ?? "") : null,
  };
}

const textParts = (content: string) => (content === "" ? [] : [{ type: "text", content }]);

function partsOf({ text, toolCalls }: NonNullable<TracedCall["reply"]>): object[] {
  const calls = toolCalls.map((call) => ({
    type: "tool_call",
    id: call.id,
    name: call.name,
    arguments: tryParseJson(call.arguments) ?? call.arguments,
  }));
  return [...textParts(text), ...calls];
}

// The schema of output messages requires the reason, and has a name of its own for calls.
function outputMessages(parts: object[], finishReason: string | null): string {
  const finish_reason = finishReason === "tool_calls" ? "tool_call" : (finishReason ?? "stop");
  return writeJson([{ role: "assistant", parts, finish_reason }]);
}
