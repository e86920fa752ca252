import { isJsonObject, type JsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import { stringifyLarge } from "@/server/base/json/large";
import type { AgentConfiguration } from "@/server/work/agent/definition";
import { asksForCorrection, readJsonAnswer, requestCorrection } from "@/server/work/models/json-answer";
import { limitCalls, type ModelMessage, type ModelReply, type OfferedTool } from "@/server/work/models/port";
import { limitUses, type PreparedCall, prepareCalls } from "./prepare-calls";
import { CLOSING_MESSAGE, offeredTools, openingMessages } from "./prompts";

const SAME_FAILURES = 3;

/** One model call; the first is iteration 1. `closing` asks for the answer and offers no calls. */
export type ModelTurn = {
  iteration: number;
  closing: boolean;
  messages: ModelMessage[];
  tools: OfferedTool[];
  withheldTools: OfferedTool[] | undefined;
  responseSchema: JsonObject | undefined;
};
export type TurnReply = Pick<ModelReply, "content" | "reasoning" | "state" | "toolCalls">;

/**
 * The calls of one iteration in the model's order, limited to those that become steps. `reasoning` is the text beside
 * them, or else the model's reasoning.
 */
export type ToolRound = { iteration: number; reasoning: string; calls: PreparedCall[] };
/** Result of a call as sent to the model: JSON text, `{"error": …}` if it failed. */
export type ToolResult = { output: string; failed: boolean };

/** Stores the loop's steps. On a replay it returns the stored results, so that nothing runs twice. */
export type AgentJournal = {
  /** Costly checks of arguments are queued fairly by organization. */
  organizationId: string;
  callModel(turn: ModelTurn): Promise<TurnReply>;
  callTools(round: ToolRound): Promise<ToolResult[]>;
};

type AgentOutcome =
  | { status: "Completed"; output: string }
  | {
      status: "Failed";
      code: "repeated_failure" | "step_failed" | "output_invalid" | "empty_answer";
      message: string;
    };

/**
 * The agent loop: calls the model and executes its calls, until it answers without a call. When all steps are used,
 * one last call asks for the answer. An answer that does not match the output schema is sent back. Pure: the same
 * journal gives the same path. Throws only what the journal throws.
 */
export async function runAgentLoop(
  configuration: AgentConfiguration,
  userMessage: string,
  journal: AgentJournal,
): Promise<AgentOutcome> {
  const tools = offeredTools(configuration.callables);
  const messages = openingMessages(configuration, userMessage);
  const failures = new Map<string, number>();
  const uses = new Map<string, number>();
  const { outputSchema: responseSchema, maxSteps, callables } = configuration;

  for (let iteration = 1; ; iteration += 1) {
    const closing = iteration > maxSteps;
    const isCorrection = asksForCorrection(messages);
    const reply = await journal.callModel({
      iteration,
      closing,
      // A request to correct the answer asks for it already.
      messages: closing && !isCorrection ? [...messages, CLOSING_MESSAGE] : [...messages],
      // A provider can force the format of an answer only if it offers no calls.
      tools: closing || isCorrection ? [] : tools,
      withheldTools: closing || isCorrection ? tools : undefined,
      responseSchema,
    });
    const { content, state, toolCalls: requested } = reply;
    if (closing && content.trim() === "" && requested.length > 0) {
      const message = "The model called functions instead of answering when all steps were used.";
      return { status: "Failed", code: "empty_answer", message };
    }
    if (closing || requested.length === 0) {
      const answer = await readAnswer(content, responseSchema, journal.organizationId);
      if ("output" in answer) return { status: "Completed", ...answer };
      if (closing) {
        const message = `The answer does not match the agent's output schema: ${answer.issue}.`;
        return { status: "Failed", code: "output_invalid", message };
      }
      messages.push(...requestCorrection({ content, state }, answer.issue));
      continue;
    }

    const toolCalls = limitCalls(requested);
    const calls = limitUses(await prepareCalls(callables, toolCalls, journal.organizationId), uses);
    const reasoning = content.trim() === "" ? reply.reasoning : content;
    const results = await journal.callTools({ iteration, reasoning, calls });
    messages.push({ role: "assistant", content, toolCalls, state });
    for (const [index, prepared] of calls.entries()) {
      const result = results[index] ?? { output: "null", failed: true };
      messages.push({ role: "tool", toolCallId: prepared.call.id, content: result.output });
      if (!result.failed || ("error" in prepared && prepared.isOverLimit)) continue;
      const { name } = prepared.call;
      if ("callable" in prepared && prepared.callable.policy?.onError === "fail") {
        const message = `The call of ${name} failed: ${errorOf(result.output)}`;
        return { status: "Failed", code: "step_failed", message };
      }
      const count = (failures.get(prepared.identity) ?? 0) + 1;
      failures.set(prepared.identity, count);
      if (count >= SAME_FAILURES) {
        const message = `The same call of ${name} failed ${SAME_FAILURES} times: ${errorOf(result.output)}`;
        return { status: "Failed", code: "repeated_failure", message };
      }
    }
  }
}

async function readAnswer(
  content: string,
  schema: JsonObject | undefined,
  organizationId: string,
): Promise<{ output: string } | { issue: string }> {
  if (schema === undefined) return { output: content };
  const answer = await readJsonAnswer(content, schema, organizationId);
  return "value" in answer ? { output: await stringifyLarge(answer.value) } : answer;
}

function errorOf(output: string): string {
  const parsed = tryParseJson(output);
  const error = (isJsonObject(parsed) ? parsed.error : undefined) ?? output;
  return (typeof error === "string" ? error : writeJson(error)).slice(0, 500);
}
