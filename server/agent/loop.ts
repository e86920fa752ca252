import type { AgentConfiguration } from "@/server/agent/definition";
import type { ModelMessage, OfferedTool, ToolCall } from "@/server/models/port";
import { limitCalls } from "@/server/models/reply-limits";
import { offeredTools } from "./offered-tools";
import { type PreparedCall, prepareCalls } from "./prepare-calls";
import { CLOSING_MESSAGE, openingMessages } from "./prompts";

/** After this many identical failing calls the run fails. */
const SAME_FAILURES = 3;

/** One model call; the first is iteration 1. `closing` asks for the answer and offers no calls. */
export type Thinking = {
  iteration: number;
  closing: boolean;
  messages: ModelMessage[];
  tools: OfferedTool[];
};
export type Thought = { content: string; toolCalls: ToolCall[] };

/** The calls of one iteration in the model's order, limited to those that become steps. */
export type Acting = { iteration: number; reasoning: string; calls: PreparedCall[] };
/** A call's result as sent to the model: JSON text, `{"error": …}` if it failed. */
export type Acted = { output: string; failed: boolean };

/** Stores the loop's steps. On a replay it returns the stored results, so that nothing runs twice. */
export type AgentJournal = {
  /** Costly checks of arguments are queued fairly by organization. */
  organizationId: string;
  think(thinking: Thinking): Promise<Thought>;
  act(acting: Acting): Promise<Acted[]>;
};

export type AgentOutcome =
  | { status: "Completed"; output: string }
  | { status: "Failed"; code: "repeated_failure"; message: string };

/**
 * The agent loop: the model thinks, calls are executed, until the model answers without a call or all steps are used;
 * then one last call asks for the answer. Pure: the same journal gives the same path, so a run continues where its
 * journal ends. Throws only what the journal throws.
 */
export async function runAgentLoop(
  configuration: AgentConfiguration,
  userMessage: string,
  journal: AgentJournal,
): Promise<AgentOutcome> {
  const tools = offeredTools(configuration.callables);
  const messages = openingMessages(configuration, userMessage);
  const failures = new Map<string, number>();

  for (let iteration = 1; iteration <= configuration.maxSteps; iteration += 1) {
    const { content, toolCalls: asked } = await journal.think({
      iteration,
      closing: false,
      messages: [...messages],
      tools,
    });
    if (asked.length === 0) return { status: "Completed", output: content };

    const toolCalls = limitCalls(asked);
    const calls = await prepareCalls(configuration.callables, toolCalls, journal.organizationId);
    const results = await journal.act({ iteration, reasoning: content, calls });
    messages.push({ role: "assistant", content, toolCalls });
    for (const [index, call] of calls.entries()) {
      const result = results[index] ?? { output: "null", failed: true };
      messages.push({ role: "tool", toolCallId: call.call.id, content: result.output });
      if (!result.failed || ("error" in call && call.isOverLimit)) continue;
      const count = (failures.get(call.identity) ?? 0) + 1;
      failures.set(call.identity, count);
      if (count >= SAME_FAILURES) {
        return {
          status: "Failed",
          code: "repeated_failure",
          message: `The same call of ${call.call.name} failed ${SAME_FAILURES} times: ${errorOf(result.output)}`,
        };
      }
    }
  }

  const iteration = configuration.maxSteps + 1;
  const closing = await journal.think({
    iteration,
    closing: true,
    messages: [...messages, CLOSING_MESSAGE],
    tools: [],
  });
  return { status: "Completed", output: closing.content };
}

/** The message in a failed call's `{"error": …}`. */
function errorOf(output: string): string {
  const parsed: unknown = JSON.parse(output);
  const error = typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : output;
  return typeof error === "string" ? error.slice(0, 500) : JSON.stringify(error).slice(0, 500);
}
