import { createHash } from "node:crypto";
import { safeArguments, safeName } from "@/server/work/models/calls/sent-calls";
import type { Adaptation } from "@/server/work/models/errors/adaptation";
import type { ModelMessage } from "@/server/work/models/port";
import { openChatState } from "./chat-state";
import { isMoreThanText } from "./content-parts";

// As Mistral wants it, the same for the call and its result.
function shortId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}

// Some servers reject a question right after results.
const BETWEEN = { role: "assistant" as const, content: "I have the results." };

// Gemini's documented mark for calls that another model made.
const NO_SIGNATURE = { google: { thought_signature: "skip_thought_signature_validator" } };

// The texts of system messages begin the first question.
function withoutSystemRole(messages: readonly ModelMessage[]): ModelMessage[] {
  const texts = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const others = messages.filter(({ role }) => role !== "system");
  const first = others.findIndex(({ role }) => role === "user");
  if (texts.length === 0 || first < 0) return [...messages];
  return others.map((message, at) =>
    at === first ? { ...message, content: [...texts, message.content].join("\n\n") } : message,
  );
}

/** The messages of a conversation, with the fields that came from `origin`. */
export function toWireMessages(
  messages: readonly ModelMessage[],
  { quirks, unwantedFields }: Pick<Adaptation, "quirks" | "unwantedFields">,
  origin: string,
) {
  const blankReasoning: object = quirks.includes("reasoningAlways") ? { reasoning_content: " " } : {};
  const noSignature: object = quirks.includes("signatureAlways") ? { extra_content: NO_SIGNATURE } : {};
  const back = { origin, unwanted: unwantedFields };
  const longIds: ReadonlyMap<string, string> = new Map(
    messages.flatMap((message) => {
      const { ids } = openChatState(message, back);
      return ids === undefined ? [] : Object.entries(ids);
    }),
  );
  const toId = quirks.includes("shortCallIds") ? shortId : (id: string) => longIds.get(id) ?? id;
  const calls = quirks.includes("namedResults")
    ? messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []))
    : [];
  const names = new Map(calls.map(({ id, name }) => [id, { name: safeName(name) }]));

  function toWire(message: ModelMessage) {
    const { role } = message;
    if (role === "tool") {
      const name: object = names.get(message.toolCallId) ?? {};
      return { role, tool_call_id: toId(message.toolCallId), content: message.content, ...name };
    }
    if (role !== "assistant") return { role, content: message.content };
    const state = openChatState(message, back);
    const content = (state.thinking ?? "") + message.content;
    const own: object = { ...blankReasoning, ...state.message };
    // A list of parts that came instead of the text.
    const parts: object = isMoreThanText(state.message.content) ? { content: state.message.content } : {};
    if (message.toolCalls.length === 0) return { ...own, role, content, ...parts };
    return {
      ...own,
      role,
      // Chat templates break on null (vllm-project/vllm#54337).
      content: content === "" && quirks.includes("nullContent") ? null : content,
      ...parts,
      tool_calls: message.toolCalls.map((call, index) => {
        const given: { function?: object } = state.calls[index] ?? {};
        return {
          ...(index === 0 && noSignature),
          ...given,
          id: toId(call.id),
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

  const wire = (quirks.includes("noSystemRole") ? withoutSystemRole(messages) : messages).map(toWire);
  if (!quirks.includes("resultsApart")) return wire;
  return wire.flatMap((message, index) =>
    message.role === "user" && wire[index - 1]?.role === "tool" ? [BETWEEN, message] : [message],
  );
}
