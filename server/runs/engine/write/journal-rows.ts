import type { OrgId } from "@/server/base/actor";
import type { Decimal } from "@/server/base/amount";
import { newId } from "@/server/base/ids";
import type { StepStatus } from "@/server/contract/enums";
import { unfinishedError } from "@/server/runs/failure-codes";
import type { ModelReply } from "@/server/work/models/port";
import type { ClaimedRun } from "../claimed-run";

/**
 * `flush_writes` writes all these columns. Amounts are decimal strings, times ISO 8601. The journal adds attempts,
 * end and sequence.
 */

type Row = {
  id: string;
  organization_id: OrgId;
  run_id: string;
  key: string;
  iteration_number: number;
  status: StepStatus;
  input_tokens: number;
  output_tokens: number;
  credits: string;
  error_message: string | null;
  /** A JSON array as text. */
  attempts: string;
  started_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  sequence: number;
};
export type ModelCallRow = Row & {
  provider: string;
  model: string;
  content: string;
  reasoning: string;
  /** A JSON array as text. */
  tool_calls: string;
  /** The provider's own state, sealed, as PostgreSQL writes a bytea. */
  state_sealed: string | null;
  finish_reason: string | null;
  cached_input_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  estimated: boolean;
};
export type StepRow = Row & {
  step_number: number;
  tool_name: string;
  /** A JSON document as text. */
  input: string;
  output: string | null;
  reasoning: string;
  actions: number;
  child_run_id: string | null;
  /** The numbers of its events. The journal sets them when it writes the row, so that events are committed in order. */
  started_event: number | null;
  finished_event: number | null;
};
export type JournalRow = ModelCallRow | StepRow;

export const isStep = (row: JournalRow): row is StepRow => "step_number" in row;

export type NewCall = { key: string; iteration: number; provider: string; model: string };
export type CallResult =
  | { reply: ModelReply; sealedState: Buffer | null; credits: Decimal }
  | {
      error: string;
      /** Output before the interruption: it is charged. */
      received: { content: string; usage: ModelReply["usage"] } | null;
      credits: Decimal;
    };
export type NewStep = {
  key: string;
  stepNumber: number;
  iteration: number;
  toolName: string;
  /** A JSON document as text. */
  input: string;
  reasoning: string;
  /** The iteration's usage; the same on all its steps. */
  usage: { inputTokens: number; outputTokens: number };
  /** May change something outside the run: all completed work is committed first. */
  hasSideEffects: boolean;
};
export type StepResult = {
  /** JSON text, cut and redacted. */
  output: string;
  error: string | null;
  /** 1 if a function or tool was executed, else 0. */
  actions: number;
  credits: Decimal;
};

type Owner = Pick<ClaimedRun, "id" | "orgId">;

// One literal each: copies of parts would cost as much as all else of a row.

export function newCallRow(run: Owner, call: NewCall, at: Date): ModelCallRow {
  return {
    id: newId(),
    organization_id: run.orgId,
    run_id: run.id,
    key: call.key,
    iteration_number: call.iteration,
    status: "Running",
    provider: call.provider,
    model: call.model,
    content: "",
    reasoning: "",
    tool_calls: "[]",
    state_sealed: null,
    finish_reason: null,
    input_tokens: 0,
    output_tokens: 0,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: false,
    credits: "0",
    error_message: null,
    attempts: "[]",
    started_at: at.toISOString(),
    finished_at: null,
    duration_ms: null,
    sequence: 0,
  };
}

export function newStepRow(run: Owner, step: NewStep, at: Date): StepRow {
  return {
    id: newId(),
    organization_id: run.orgId,
    run_id: run.id,
    key: step.key,
    iteration_number: step.iteration,
    status: "Running",
    step_number: step.stepNumber,
    tool_name: step.toolName,
    input: step.input,
    output: null,
    reasoning: step.reasoning,
    input_tokens: step.usage.inputTokens,
    output_tokens: step.usage.outputTokens,
    actions: 0,
    credits: "0",
    child_run_id: null,
    started_event: null,
    finished_event: null,
    error_message: null,
    attempts: "[]",
    started_at: at.toISOString(),
    finished_at: null,
    duration_ms: null,
    sequence: 0,
  };
}

export function callChange(row: ModelCallRow, result: CallResult): Partial<ModelCallRow> & Usage {
  const reply = "reply" in result ? result.reply : null;
  const { content = "", usage } = reply ?? ("received" in result ? result.received : null) ?? {};
  return {
    provider: reply?.provider ?? row.provider,
    status: reply ? "Completed" : "Failed",
    content,
    reasoning: reply?.reasoning ?? "",
    state_sealed: "sealedState" in result && result.sealedState ? byteaText(result.sealedState) : null,
    tool_calls: JSON.stringify(reply?.toolCalls ?? []),
    finish_reason: reply?.finishReason ?? null,
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cached_input_tokens: usage?.cachedInputTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    reasoning_tokens: usage?.reasoningTokens ?? 0,
    estimated: usage?.estimated ?? false,
    credits: result.credits.toFixed(4),
    error_message: "error" in result ? result.error : null,
  };
}

const byteaText = (bytes: Buffer) => `\\x${bytes.toString("hex")}`;

type Usage = Pick<ModelCallRow, "input_tokens" | "output_tokens">;

export function stepChange(result: StepResult): Partial<StepRow> {
  const status = result.error === null ? "Completed" : "Failed";
  const { output, actions, error } = result;
  return { status, output, actions, credits: result.credits.toFixed(4), error_message: error };
}

/** The changes in the row of a model call or step that was unfinished when its run ended. */
export function unfinishedChange(row: JournalRow, runStatus: "Failed" | "Cancelled"): Partial<StepRow> {
  const kind = isStep(row) ? "step" : "call";
  const error = unfinishedError(runStatus, kind);
  if (kind === "call") return { status: "Failed", error_message: error };
  return { status: "Failed", error_message: error, output: JSON.stringify({ error }) };
}
