import { isJsonObject, markJson } from "@/server/base/json/json";
import { LEAST_OUTPUT_TOKENS } from "@/server/credits/prices";
import { isLongId, safeArguments, safeName, shortenId } from "@/server/work/models/calls/sent-calls";
import { sentSchema, toSentTool } from "@/server/work/models/calls/sent-schemas";
import { type Adaptation, acceptedParameters } from "@/server/work/models/errors/adaptation";
import { flattenParameters, nestParameters } from "@/server/work/models/errors/nested-parameters";
import { describeSchema } from "@/server/work/models/json-answer";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
import { type Item, openResponseState } from "./response-state";

const NESTED = ["reasoning", "text"];

type WireItem = { [name: string]: unknown };

/**
 * The parameters that a model may reject: encrypted reasoning if it does not think (openhands/OpenHands#11406), its
 * summary if the organization is not verified (home-assistant/core#160212). `modelOptions` comes first, so that it
 * replaces no setting.
 */
export function responseParameters({
  settings = {},
  tools,
}: Pick<ModelRequest, "settings" | "tools">): Record<string, unknown> {
  const { modelOptions = {}, temperature, topP, reasoningEffort, verbosity, parallelToolCalls } = settings;
  return {
    "reasoning.summary": "auto",
    ...flattenParameters(markJson(modelOptions), NESTED),
    temperature,
    top_p: topP,
    ...(reasoningEffort !== undefined && { "reasoning.effort": reasoningEffort }),
    ...(verbosity !== undefined && { "text.verbosity": verbosity }),
    // Without tools, servers reject it.
    parallel_tool_calls: tools.length > 0 ? parallelToolCalls : undefined,
    include: ["reasoning.encrypted_content"],
  };
}

/** The request's body for `POST /responses`, with the items that came from `origin`. */
export function toResponseBody(request: Omit<ModelRequest, "signal">, known: Adaptation, origin: string) {
  const { model, messages, tools, responseSchema } = request;
  const withheld = known.toolsAlways && tools.length === 0 ? (request.withheldTools ?? []) : [];
  const offered = tools.length > 0 ? tools : withheld;
  // The leading system messages.
  const start = messages.findIndex(({ role }) => role !== "system");
  const leading = start < 0 ? messages : messages.slice(0, start);
  const described =
    responseSchema !== undefined && known.schemaInPrompt ? [describeSchema(responseSchema)] : [];
  const instructions = [...leading.map(({ content }) => content), ...described].filter(Boolean).join("\n\n");
  const { text, ...parameters } = nestParameters(
    acceptedParameters(responseParameters(request), known),
    NESTED,
  );
  const format = responseSchema !== undefined &&
    !known.schemaInPrompt && {
      format: {
        type: "json_schema" as const,
        name: "answer",
        schema: sentSchema(responseSchema, known),
        strict: false,
      },
    };
  return {
    ...parameters,
    model,
    store: false,
    ...(instructions !== "" && { instructions }),
    input: withLongIds(
      messages.slice(leading.length).flatMap((message) => toItems(message, origin)),
      longIdsOf(messages, origin),
    ),
    max_output_tokens: Math.max(
      LEAST_OUTPUT_TOKENS,
      Math.min(request.maxOutputTokens, known.maxOutputTokens),
    ),
    ...((text !== undefined || format) && { text: { ...(isJsonObject(text) && text), ...format } }),
    ...(offered.length > 0 && {
      tools: offered.map((tool) => ({
        type: "function" as const,
        ...toSentTool(tool, known),
        strict: false,
      })),
    }),
    ...(withheld.length > 0 && { tool_choice: "none" as const }),
  };
}

function longIdsOf(messages: readonly ModelMessage[], origin: string): ReadonlyMap<string, string> {
  const ids = messages
    .flatMap((message) => openResponseState(message, origin) ?? [])
    .flatMap(({ call_id: id }) => (isLongId(id) ? [id] : []));
  return new Map(ids.map((id) => [shortenId(id), id]));
}

const withLongIds = (items: readonly WireItem[], ids: ReadonlyMap<string, string>): WireItem[] =>
  items.map((item) => {
    const long = typeof item.call_id === "string" ? ids.get(item.call_id) : undefined;
    return long === undefined ? item : { ...item, call_id: long };
  });

function toItems(message: ModelMessage, origin: string): WireItem[] {
  const { role, content } = message;
  if (role === "tool")
    return [{ type: "function_call_output", call_id: message.toolCallId, output: content }];
  if (role !== "assistant") return [{ role, content }];
  const given = openResponseState(message, origin);
  if (given !== null) return returned(given, message);
  const calls = message.toolCalls.map(toCallItem);
  return content === "" && calls.length > 0 ? calls : [{ role, content }, ...calls];
}

const toCallItem = ({ id, name, arguments: text }: { id: string; name: string; arguments: string }) => ({
  type: "function_call" as const,
  call_id: id,
  name: safeName(name),
  arguments: safeArguments(text),
});

const PLAIN = new Set(["reasoning", "message", "function_call"]);

/**
 * Nothing is stored, so the provider finds no item by its id: encrypted reasoning goes back without ids, in the form
 * of Codex (maximhq/bifrost#6488). Servers without it, such as vLLM, expect all items as they came.
 */
function unnamed(item: Item): Item {
  if (!PLAIN.has(item.type)) return item;
  const { id: _id, status: _status, ...rest } = item;
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(withoutNotes) } : rest;
}

function withoutNotes(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const { annotations: _annotations, logprobs: _logprobs, ...rest } = part;
  return rest;
}

/** Calls get the ids of their outputs; calls without an output are left out. */
function returned(
  items: readonly Item[],
  { toolCalls }: Extract<ModelMessage, { role: "assistant" }>,
): WireItem[] {
  const calls = items.filter(({ type }) => type === "function_call");
  const back = items.flatMap((item): Item[] => {
    if (item.type !== "function_call") return [item];
    const call = toolCalls[calls.indexOf(item)];
    if (call === undefined) return [];
    const own = typeof item.arguments === "string" && safeArguments(item.arguments) === item.arguments;
    return [{ ...item, ...toCallItem(call), ...(own && { arguments: item.arguments }) }];
  });
  const isEncrypted = items.some(
    ({ type, encrypted_content: content }) => type === "reasoning" && typeof content === "string",
  );
  return [...(isEncrypted ? back.map(unnamed) : back), ...toolCalls.slice(calls.length).map(toCallItem)];
}
