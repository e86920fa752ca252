import { z } from "zod";
import type { Json } from "@/server/json";
import type { ModelMessage, ModelReply, ModelRequest, ToolCall } from "@/server/models/port";
import { replaceNul } from "@/server/secrets/stored-output";

/** What one provider could not do and is spared from then on. */
export type Adaptation = {
  /** The server knows `max_tokens` but not `max_completion_tokens`. */
  oldTokenLimit: boolean;
  /** The server refuses `response_format`: the schema is put into words. */
  schemaInWords: boolean;
  /** The server refuses to answer in pieces, or then tells no usage: it is asked for the whole at once. */
  wholeAnswers: boolean;
};

/** Names of functions as every server takes them back in a conversation. */
const safeName = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";

/** Arguments as every server takes them back: servers parse them, and some fail on what is not an object. */
function safeArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? text : "{}";
  } catch {
    return "{}";
  }
}

function toWireMessage(message: ModelMessage) {
  if (message.role === "tool") {
    return { role: "tool" as const, tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  if (message.toolCalls.length === 0) return { role: "assistant" as const, content: message.content };
  return {
    role: "assistant" as const,
    content: message.content === "" ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: "function" as const,
      function: { name: safeName(call.name), arguments: safeArguments(call.arguments) },
    })),
  };
}

/** The request's body for `POST /chat/completions`. */
export function toChatCompletion(request: Omit<ModelRequest, "signal">, adaptation: Adaptation) {
  const { model, messages, tools, maxOutputTokens, responseSchema } = request;
  const wire = messages.map(toWireMessage);
  if (responseSchema !== undefined && adaptation.schemaInWords) {
    const content = `Answer with JSON alone, of this JSON Schema: ${JSON.stringify(responseSchema)}`;
    wire.push({ role: "system", content });
  }
  return {
    model,
    messages: wire,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: { name, description, parameters: { type: "object", properties: {}, ...parameters } },
      })),
    }),
    ...(adaptation.oldTokenLimit
      ? { max_tokens: maxOutputTokens }
      : { max_completion_tokens: maxOutputTokens }),
    ...(responseSchema !== undefined &&
      !adaptation.schemaInWords && {
        response_format: {
          type: "json_schema" as const,
          json_schema: { name: "answer", schema: responseSchema, strict: false },
        },
      }),
  };
}

const MAX_TOKENS_BELIEVED = 100_000_000;
const tokenCount = z.number().int().min(0).max(MAX_TOKENS_BELIEVED);

const contentPart = z.object({ type: z.string(), text: z.string().optional() });
const wireCall = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
});
const wireMessage = z.object({
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
  function_call: z.object({ name: z.string(), arguments: z.unknown().optional() }).nullish(),
});
const completion = z.object({
  choices: z.array(z.object({ message: wireMessage, finish_reason: z.string().nullish() })).min(1),
  usage: z.unknown().optional(),
});
const wireUsage = z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount });

/** An error that came with a success status, as some gateways send it. */
const wrappedError = z.object({
  error: z.object({ message: z.string(), code: z.union([z.number(), z.string()]).nullish() }),
});

/** An answer that is no chat completion; `status` or `code` when it is an error in a successful response's clothes. */
export class AnswerError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  constructor(message: string, told?: number | string | null) {
    super(message);
    this.name = "AnswerError";
    this.status = Number.isInteger(Number(told ?? Number.NaN)) ? Number(told) : undefined;
    this.code = typeof told === "string" ? told : undefined;
  }
}

function argumentsText(value: unknown): string {
  if (typeof value === "string") return replaceNul(value);
  if (value === undefined || value === null) return "";
  const json: Json = JSON.parse(JSON.stringify(value));
  return replaceNul(JSON.stringify(json));
}

/** The calls in a message; every one gets an id that no other in the conversation has. */
function readCalls(
  message: z.infer<typeof wireMessage>,
  request: Pick<ModelRequest, "messages">,
): ToolCall[] {
  const taken = new Set(
    request.messages.flatMap((m) => (m.role === "assistant" ? m.toolCalls.map((c) => c.id) : [])),
  );
  const raw = [
    ...(message.tool_calls ?? []),
    ...(message.function_call ? [{ function: message.function_call }] : []),
  ];
  return raw.flatMap((entry) => {
    const parsed = wireCall.safeParse(entry);
    if (!parsed.success) return [];
    let id = (parsed.data.id ?? "").slice(0, 200);
    for (let number = taken.size + 1; id === "" || taken.has(id); number += 1) id = `call_${number}`;
    taken.add(id);
    const name = replaceNul(parsed.data.function.name).slice(0, 200);
    return [{ id, name, arguments: argumentsText(parsed.data.function.arguments) }];
  });
}

/** Reads a provider's answer, which is believed in nothing; `usage` is null when it tells none. Throws AnswerError. */
export function readChatCompletion(
  body: unknown,
  request: Pick<ModelRequest, "messages">,
): Pick<ModelReply, "content" | "toolCalls" | "finishReason"> & { usage: ModelReply["usage"] | null } {
  const parsed = completion.safeParse(body);
  if (!parsed.success) {
    const wrapped = wrappedError.safeParse(body);
    if (!wrapped.success) throw new AnswerError("the answer is not a chat completion");
    throw new AnswerError(wrapped.data.error.message, wrapped.data.error.code);
  }
  const [choice] = parsed.data.choices;
  if (choice === undefined) throw new AnswerError("the answer holds no choice");
  const { message } = choice;
  const text = Array.isArray(message.content)
    ? message.content.map((part) => part.text ?? "").join("")
    : (message.content ?? "");
  const content = replaceNul(text === "" ? (message.refusal ?? "") : text);
  const toolCalls = readCalls(message, request);
  const told = wireUsage.safeParse(parsed.data.usage);
  const believable = told.success && told.data.prompt_tokens + told.data.completion_tokens > 0;
  return {
    content,
    toolCalls,
    finishReason: choice.finish_reason ?? null,
    usage: believable
      ? { inputTokens: told.data.prompt_tokens, outputTokens: told.data.completion_tokens, estimated: false }
      : null,
  };
}
