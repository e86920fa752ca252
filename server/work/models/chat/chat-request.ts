import { type JsonObject, markJson } from "@/server/base/json/json";
import { sentSchema, toSentTool } from "@/server/work/models/calls/sent-schemas";
import { type Adaptation, acceptedParameters } from "@/server/work/models/errors/adaptation";
import { describeSchema } from "@/server/work/models/json-answer";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
import { toWireMessages } from "./chat-messages";

/** `modelOptions` comes first, so that it replaces no other setting. */
export const chatParameters = ({
  settings = {},
  tools,
}: Pick<ModelRequest, "settings" | "tools">): Record<string, unknown> => ({
  ...(settings.modelOptions && markJson(settings.modelOptions)),
  temperature: settings.temperature,
  top_p: settings.topP,
  reasoning_effort: settings.reasoningEffort,
  verbosity: settings.verbosity,
  // Without tools, servers reject it.
  parallel_tool_calls: tools.length > 0 ? settings.parallelToolCalls : undefined,
  // The default, but llama-cpp-python ignores tools without it (its chatml-function-calling).
  tool_choice: tools.length > 0 ? "auto" : undefined,
});

// Many chat templates accept one system message only, at the beginning.
function withSchema(messages: readonly ModelMessage[], schema: JsonObject): ModelMessage[] {
  const [first] = messages;
  const system = first?.role === "system" ? first.content : "";
  const content = [system, describeSchema(schema)].filter((text) => text !== "").join("\n\n");
  return [{ role: "system", content }, ...messages.slice(first?.role === "system" ? 1 : 0)];
}

/** The request's body for `POST /chat/completions`, with the fields that came from `origin`. */
export function toChatCompletion(request: Omit<ModelRequest, "signal">, adaptation: Adaptation, origin = "") {
  const { model, messages, tools, responseSchema } = request;
  const limit = Math.min(request.maxOutputTokens, adaptation.maxOutputTokens);
  const { quirks } = adaptation;
  const withheld = adaptation.toolsAlways && tools.length === 0 ? (request.withheldTools ?? []) : [];
  const offered = tools.length > 0 ? tools : withheld;
  // If tools are offered, several servers reject response_format. Others force JSON from the first token on and so
  // never call a tool.
  const isDescribed = adaptation.schemaInPrompt || offered.length > 0;
  const instructed =
    responseSchema !== undefined && isDescribed ? withSchema(messages, responseSchema) : messages;
  return {
    ...acceptedParameters(chatParameters(request), adaptation),
    ...(offered.length > 0 &&
      quirks.includes("noReasoningWithTools") && { reasoning_effort: "none" as const }),
    model,
    messages: toWireMessages(instructed, adaptation, origin),
    ...(offered.length > 0 && {
      tools: offered.map((tool) => ({
        type: "function" as const,
        function: toSentTool(tool, adaptation),
      })),
    }),
    ...(withheld.length > 0 && { tool_choice: "none" as const }),
    ...(adaptation.oldTokenLimit ? { max_tokens: limit } : { max_completion_tokens: limit }),
    ...(responseSchema !== undefined &&
      !isDescribed && {
        response_format: {
          type: "json_schema" as const,
          json_schema: { name: "answer", schema: sentSchema(responseSchema, adaptation), strict: false },
        },
      }),
  };
}
