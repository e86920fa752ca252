import type { Decimal } from "@/server/credits/amount";
import { newId } from "@/server/ids";
import type { ModelReply } from "@/server/models/port";
import type { ClaimedRun } from "../claimed-run";
import type { JournalRow, ModelCallRow, StepRow } from "./flush-items";

/** The rows of model calls and steps as they begin and end. Attempts, duration and sequence are the journal's. */

export type NewCall = { key: string; iteration: number; provider: string; model: string };
export type CallResult =
  | { reply: ModelReply; credits: Decimal }
  | {
      error: string;
      /** What was received before the interruption: it is charged. */
      received: { content: string; usage: ModelReply["usage"] } | null;
      credits: Decimal;
    };
export type NewStep = {
  key: string;
  stepNumber: number;
  iteration: number;
  toolName: string;
  /** JSON text. */
  input: string;
  reasoning: string;
  /** The iteration's usage; the same on all its steps. */
  usage: { inputTokens: number; outputTokens: number };
  /** Whether it may change something outside the run: then all completed work is committed first. */
  hasSideEffects: boolean;
};
export type StepResult = {
  /** JSON text, cut and redacted. */
  output: string;
  /** Why it failed; null if it did not. */
  error: string | null;
  /** 1 if a function or tool was executed, 0 if the call did not get that far. */
  actions: number;
  credits: Decimal;
};

type Owner = Pick<ClaimedRun, "id" | "orgId">;

export function newCallRow(run: Owner, call: NewCall, at: Date): ModelCallRow {
  return {
    id: newId(),
    org: run.orgId,
    run: run.id,
    key: call.key,
    iteration: call.iteration,
    provider: call.provider,
    model: call.model,
    status: "Running",
    content: "",
    tool_calls: "[]",
    finish_reason: null,
    input_tokens: 0,
    output_tokens: 0,
    estimated: false,
    credits: "0",
    error: null,
    attempts: "[]",
    started_at: at.toISOString(),
    duration: null,
    sequence: 0,
  };
}

export function newStepRow(run: Owner, step: NewStep, at: Date): StepRow {
  return {
    id: newId(),
    org: run.orgId,
    run: run.id,
    key: step.key,
    number: step.stepNumber,
    iteration: step.iteration,
    tool: step.toolName,
    status: "Running",
    input: step.input,
    output: null,
    reasoning: step.reasoning,
    input_tokens: step.usage.inputTokens,
    output_tokens: step.usage.outputTokens,
    actions: 0,
    credits: "0",
    error: null,
    attempts: "[]",
    child: null,
    started_at: at.toISOString(),
    duration: null,
    sequence: 0,
  };
}

export function finishedCallRow(row: ModelCallRow, result: CallResult): ModelCallRow {
  const reply = "reply" in result ? result.reply : null;
  const { content = "", usage } = reply ?? ("received" in result ? result.received : null) ?? {};
  return {
    ...row,
    provider: reply?.provider ?? row.provider,
    status: reply ? "Completed" : "Failed",
    content,
    tool_calls: JSON.stringify(reply?.toolCalls ?? []),
    finish_reason: reply?.finishReason ?? null,
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    estimated: usage?.estimated ?? false,
    credits: result.credits.toFixed(4),
    error: "error" in result ? result.error : null,
  };
}

export function finishedStepRow(row: StepRow, result: StepResult): StepRow {
  return {
    ...row,
    status: result.error === null ? "Completed" : "Failed",
    output: result.output,
    error: result.error,
    actions: result.actions,
    credits: result.credits.toFixed(4),
  };
}

/** What ends with its run. */
export function failedRow<Row extends ModelCallRow | StepRow>(row: Row, status: "Failed" | "Cancelled"): Row {
  const isStep = "number" in row;
  const error = `The run ended (${status}) before this ${isStep ? "step" : "call"} had finished.`;
  return { ...row, status: "Failed", error, ...(isStep ? { output: JSON.stringify({ error }) } : {}) };
}

export function rowOf(value: ModelCallRow | StepRow): JournalRow {
  return "number" in value ? { table: "steps", value } : { table: "model_calls", value };
}
