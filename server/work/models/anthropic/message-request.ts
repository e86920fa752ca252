import { isJsonObject, markJson, tryParseMarked } from "@/server/base/json/json";
import { safeName } from "@/server/work/models/calls/sent-calls";
import { sentSchema, toSentTool } from "@/server/work/models/calls/sent-schemas";
import { type Adaptation, acceptedParameters } from "@/server/work/models/errors/adaptation";
import { flattenParameters, nestParameters } from "@/server/work/models/errors/nested-parameters";
import { describeSchema } from "@/server/work/models/json-answer";
import { type Block, isThoughtless, openMessageState } from "@/server/work/models/message-state";
import type { ModelMessage, ModelRequest, ToolCall } from "@/server/work/models/port";
import { answerToolOf } from "./answer-tool";

const NESTED = ["output_config"];

// Anthropic has no effort below `low`.
const effortOf = (effort: string) => (effort === "minimal" ? "low" : effort);

type Parameters = Pick<ModelRequest, "settings" | "tools" | "withheldTools" | "responseSchema">;

/** The parameters that a model may reject. `modelOptions` comes first, so that it replaces no setting. */
export function messageParameters(request: Parameters): Record<string, unknown> {
  const { modelOptions = {}, temperature, topP, reasoningEffort } = request.settings ?? {};
  const options = flattenParameters(markJson(modelOptions), NESTED);
  const thinking =
    reasoningEffort === undefined
      ? options.thinking
      : reasoningEffort === "none"
        ? { type: "disabled" }
        : { type: "adaptive", display: "summarized" };
  return {
    ...options,
    temperature,
    top_p: topP,
    thinking,
    ...(reasoningEffort !== undefined &&
      reasoningEffort !== "none" && { "output_config.effort": effortOf(reasoningEffort) }),
    tool_choice: toolChoice(request, isJsonObject(thinking) && thinking.type === "enabled"),
  };
}

/** @param isManual Thinking has a budget: no tool may then be forced (pydantic/pydantic-ai#7195). */
function toolChoice(request: Parameters, isManual: boolean): object | undefined {
  const { tools, withheldTools = [], settings } = request;
  const serial = tools.length > 0 &&
    settings?.parallelToolCalls === false && { disable_parallel_tool_use: true };
  const answer = answerToolOf(request);
  if (answer !== null && !isManual) {
    // Any of the offered tools, of which one gives the answer.
    return tools.length > 0 ? { type: "any", ...serial } : { type: "tool", name: answer.name };
  }
  if (answer === null && tools.length === 0 && withheldTools.length > 0) return { type: "none" };
  return serial ? { type: "auto", ...serial } : undefined;
}

// Marks the end of the cached part: Anthropic's documentation of prompt caching.
const CACHED = { cache_control: { type: "ephemeral" } };

export const hasResults = (messages: readonly ModelMessage[]) => messages.some(({ role }) => role === "tool");

/** The request's body for `POST /v1/messages`, with the blocks that came from `origin`. */
export function toMessageBody(request: Omit<ModelRequest, "signal">, known: Adaptation, origin: string) {
  const { model, messages, responseSchema, withheldTools = [] } = request;
  // A conversation with calls needs their tools.
  const offered = request.tools.length > 0 || !hasResults(messages) ? request.tools : withheldTools;
  const answer = answerToolOf(request);
  const tools = offered.map((tool) => {
    const { parameters = { type: "object" }, ...rest } = toSentTool(tool, known);
    return { ...rest, input_schema: parameters };
  });
  if (answer !== null) {
    const { name, description, schema } = answer;
    tools.push({ name, description, input_schema: sentSchema(schema, known) });
  }
  const { tool_choice: choice, ...parameters } = nestParameters(
    acceptedParameters(messageParameters(request), known),
    NESTED,
  );
  if (known.quirks.includes("thinksWholeTurns") && isThoughtless(messages, origin))
    delete parameters.thinking;
  const system = messages.flatMap(({ role, content }) =>
    role === "system" && content !== "" ? [content] : [],
  );
  if (answer !== null) system.push(`Give your final answer by calling the tool ${answer.name}.`);
  else if (responseSchema !== undefined) system.push(describeSchema(responseSchema));
  const conversation = toConversation(messages, origin);
  // A single call is not repeated: to write the cache would only cost.
  const isRepeated = request.tools.length > 0 || hasResults(messages);
  if (isRepeated) markEnd(conversation.at(-1)?.content);
  if (isRepeated && system.length === 0) markEnd(tools);
  return {
    ...parameters,
    model,
    max_tokens: Math.min(request.maxOutputTokens, known.maxOutputTokens),
    ...(system.length > 0 && {
      system: [{ type: "text", text: system.join("\n\n"), ...(isRepeated && CACHED) }],
    }),
    messages: conversation,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice !== undefined && { tool_choice: choice }),
  };
}

function markEnd(list: object[] | undefined): void {
  const last = list?.at(-1);
  if (last !== undefined) Object.assign(last, CACHED);
}

type Turn = { role: "user" | "assistant"; content: object[] };

// Adjacent messages of one role are one turn, as results of parallel calls must be.
function toConversation(messages: readonly ModelMessage[], origin: string): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = toBlocks(message, origin);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return turns;
}

// Anthropic rejects blocks without text.
const isEmptyText = (block: Block) => block.type === "text" && String(block.text).trim() === "";
const text = (content: string): Block[] =>
  [{ type: "text", text: content }].filter((block) => !isEmptyText(block));

// Anthropic rejects other characters.
const safeId = (id: string) => id.replace(/[^a-zA-Z0-9_-]/g, "_");

function toBlocks(message: ModelMessage, origin: string): object[] {
  if (message.role === "tool") {
    const { toolCallId, content } = message;
    return [{ type: "tool_result", tool_use_id: safeId(toolCallId), content }];
  }
  if (message.role !== "assistant") return text(message.content);
  const { toolCalls } = message;
  const given = openMessageState(message, origin);
  if (given === null) return [...text(message.content), ...toolCalls.map(toToolUse)];
  const uses = given.filter(({ type }) => type === "tool_use");
  const back = given.flatMap((block): object[] => {
    if (isEmptyText(block)) return [];
    if (block.type !== "tool_use") return [block];
    const call = toolCalls[uses.indexOf(block)];
    // A call without a result is rejected.
    return call === undefined ? [] : [{ ...block, id: safeId(call.id), name: safeName(call.name) }];
  });
  return [...back, ...toolCalls.slice(uses.length).map(toToolUse)];
}

function toToolUse({ id, name, arguments: json }: ToolCall): object {
  const input = tryParseMarked(json);
  return { type: "tool_use", id: safeId(id), name: safeName(name), input: isJsonObject(input) ? input : {} };
}
