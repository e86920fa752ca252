import { markJson } from "@/server/base/json/json";
import { type Adaptation, acceptedParameters } from "@/server/work/models/calls/adaptation";
import { portableSchema } from "@/server/work/models/calls/portable-schema";
import { safeArguments, safeName } from "@/server/work/models/calls/sent-calls";
import { describeSchema } from "@/server/work/models/json-answer";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";
import { openChatState } from "./chat-state";

function toWireMessage(message: ModelMessage, back: Parameters<typeof openChatState>[1]) {
  const { role, content } = message;
  if (role === "tool") return { role, tool_call_id: message.toolCallId, content };
  if (role !== "assistant") return { role, content };
  const state = openChatState(message, back);
  const own: object = state.message;
  if (message.toolCalls.length === 0) return { ...own, role, content };
  return {
    ...own,
    role,
    // Chat templates break on null (vllm-project/vllm#54337).
    content,
    tool_calls: message.toolCalls.map((call, index) => {
      const given: { function?: object } = state.calls[index] ?? {};
      return {
        ...given,
        id: call.id,
        type: "function" as const,
        function: {
          ...given.function,
          name: safeName(call.name),
          arguments: safeArguments(call.arguments),
        },
      };
    }),
  };
}

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
  // Without tools, servers refuse it.
  parallel_tool_calls: tools.length > 0 ? settings.parallelToolCalls : undefined,
});

/** The request's body for `POST /chat/completions`, with the fields that came from `origin`. */
export function toChatCompletion(request: Omit<ModelRequest, "signal">, adaptation: Adaptation, origin = "") {
  const { model, messages, tools, responseSchema } = request;
  const limit = Math.min(request.maxOutputTokens, adaptation.maxOutputTokens);
  const back = { origin, unwanted: adaptation.unwantedFields };
  const wire = messages.map((message) => toWireMessage(message, back));
  const withheld = adaptation.toolsAlways && tools.length === 0 ? (request.withheldTools ?? []) : [];
  const offered = tools.length > 0 ? tools : withheld;
  // If tools are offered, several servers refuse response_format. Others force JSON from the first token on and so
  // never call a tool.
  const isDescribed = adaptation.schemaInPrompt || offered.length > 0;
  if (responseSchema !== undefined && isDescribed) {
    // Many chat templates accept one system message only, at the beginning.
    const [first] = wire;
    const system = first?.role === "system" ? wire.shift()?.content : null;
    const content = [system, describeSchema(responseSchema)].filter(Boolean).join("\n\n");
    wire.unshift({ role: "system", content });
  }
  return {
    ...acceptedParameters(chatParameters(request), adaptation),
    model,
    messages: wire,
    ...(offered.length > 0 && {
      tools: offered.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: {
          name,
          description,
          parameters: { type: "object", properties: {}, ...portableSchema(parameters) },
        },
      })),
    }),
    ...(withheld.length > 0 && { tool_choice: "none" as const }),
    ...(adaptation.oldTokenLimit ? { max_tokens: limit } : { max_completion_tokens: limit }),
    ...(responseSchema !== undefined &&
      !isDescribed && {
        response_format: {
          type: "json_schema" as const,
          json_schema: { name: "answer", schema: portableSchema(responseSchema), strict: false },
        },
      }),
  };
}
