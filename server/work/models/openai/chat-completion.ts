import { z } from "zod";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import type { Redact } from "@/server/guard/secrets/redact";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import {
  limitCalls,
  MAX_RECORDED_CALLS,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  type ToolCall,
  UNREADABLE_CALL,
} from "@/server/work/models/port";
import { readChatState } from "./chat-state";
import { readErrorText, readReported } from "./error-bodies";
import { splitThinking } from "./thinking";

const MAX_TOKENS_BELIEVED = 100_000_000;
const tokenCount = z.number().int().min(0).max(MAX_TOKENS_BELIEVED);

/** More parts of a text are ignored. */
const MAX_CONTENT_PARTS = 1000;
const MAX_ID_LENGTH = 200;
const MAX_NAME_LENGTH = 200;

const contentPart = z.object({ text: z.string().catch("") });
const wireCall = z.object({
  id: z.string().nullish().catch(null),
  function: z.object({ name: z.string().min(1), arguments: z.unknown().optional() }),
});
// Other fields are kept as they come (readChatState).
const wireMessage = z.looseObject({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
  function_call: z.object({ name: z.string(), arguments: z.unknown().optional() }).nullish(),
});
const wireChoice = z.object({ message: wireMessage, finish_reason: z.string().nullish() });
const completion = z.object({
  choices: z.tuple([wireChoice], z.unknown()),
  usage: z.unknown().optional(),
});
const wireUsage = z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount });

/** A response that is not a chat completion; `status` or `code` is set if it is an error in a successful response. */
export class ReplyError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  constructor(message: string, reported?: number | string | null) {
    super(message);
    this.name = "ReplyError";
    this.status = Number.isInteger(Number(reported ?? Number.NaN)) ? Number(reported) : undefined;
    this.code = typeof reported === "string" ? reported : undefined;
  }
}

/** A response beyond the size limit; a retry would not make it smaller. */
export class ReplyTooLarge extends ReplyError {
  override name = "ReplyTooLarge";
}

function argumentsText(value: unknown): string {
  if (typeof value === "string") return repairArguments(replaceNul(value));
  if (value === undefined || value === null) return "";
  try {
    return replaceNul(JSON.stringify(value));
  } catch {
    throw new ReplyError("the arguments of a call are nested too deeply");
  }
}

/** Repairs `{}{…}` (openai/openai-agents-js#712) and JSON within a JSON string (vllm-project/vllm#54964), only these. */
function repairArguments(text: string): string {
  const isObject = (each: string) => isJsonObject(tryParseJson(each));
  const behind = /^\s*\{\s*\}\s*(?=\{)/.exec(text)?.[0];
  if (behind !== undefined) return isObject(text.slice(behind.length)) ? text.slice(behind.length) : text;
  if (!/^\s*"/.test(text)) return text;
  const inner = tryParseJson(text);
  return typeof inner === "string" && isObject(inner) ? inner : text;
}

const MAX_UNREADABLE_LENGTH = 2_000;

/** The call that stands for one that cannot be read: it becomes a failed step. */
function unreadableCall(entry: unknown, redact: Redact): Omit<ToolCall, "id"> {
  const named = z.object({ function: z.looseObject({}) }).safeParse(entry);
  const problem = named.success ? "it has no name" : "it has no function";
  const text = replaceNul(redact(argumentsText(entry))).slice(0, MAX_UNREADABLE_LENGTH);
  return { name: UNREADABLE_CALL, arguments: JSON.stringify({ problem, call: text }) };
}

/** The calls in a message; each gets an id that is unique in the conversation. */
function readCalls(
  message: z.infer<typeof wireMessage>,
  request: Pick<ModelRequest, "messages">,
  { furtherCalls, redact }: { furtherCalls: number; redact: Redact },
): { toolCalls: ToolCall[]; raw: unknown[] } {
  const taken = new Set(
    request.messages.flatMap((m) => (m.role === "assistant" ? m.toolCalls.map((c) => c.id) : [])),
  );
  const raw = [...(message.tool_calls ?? [])];
  if (message.function_call) raw.push({ function: message.function_call });
  const read = raw.slice(0, MAX_RECORDED_CALLS).map((entry) => {
    const parsed = wireCall.safeParse(entry);
    let id = redact(parsed.data?.id ?? "").slice(0, MAX_ID_LENGTH);
    for (let number = taken.size + 1; id === "" || taken.has(id); number += 1) id = `call_${number}`;
    taken.add(id);
    if (!parsed.success) return { id, ...unreadableCall(entry, redact) };
    const name = replaceNul(redact(parsed.data.function.name)).slice(0, MAX_NAME_LENGTH);
    return { id, name, arguments: argumentsText(parsed.data.function.arguments) };
  });
  const further = furtherCalls + Math.max(0, raw.length - MAX_RECORDED_CALLS);
  return { toolCalls: limitCalls(read, further), raw: raw.slice(0, MAX_RECORDED_CALLS) };
}

/** The reasoning in a message's fields, as named by DeepSeek and vLLM, or by OpenRouter. */
export function readReasoning(textOf: (name: string) => unknown): string {
  const names = ["reasoning_content", "reasoning"];
  return names.map(textOf).find((text): text is string => typeof text === "string" && text !== "") ?? "";
}

/**
 * The error in a body with a success status, as some gateways send it, or in a streamed piece; null if it is none.
 * Called for every piece, so it checks before it reads.
 */
export function readReportedError(piece: unknown): ReplyError | null {
  if (typeof piece !== "object" || piece === null) return null;
  const isError =
    Array.isArray(piece) ||
    ("error" in piece && piece.error) ||
    ("object" in piece && piece.object === "error");
  if (!isError) return null;
  const reported = readReported(piece);
  return reported === null
    ? new ReplyError(`an error: ${JSON.stringify(piece)}`)
    : new ReplyError(reported.message, reported.code);
}

/** The error for a body that is not a chat completion. */
function unreadable(body: unknown): ReplyError {
  const error = readReportedError(body);
  if (error !== null) return error;
  const said = typeof body === "string" ? readErrorText(body) : readReported(body);
  return new ReplyError(`the answer is not a chat completion${said === null ? "" : `: ${said.message}`}`);
}

/** The tokens that a provider reports; null if it reports none or implausible ones. */
export function readUsage(raw: unknown): ModelUsage | null {
  const parsed = wireUsage.safeParse(raw);
  if (!parsed.success) return null;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = parsed.data;
  return inputTokens + outputTokens > 0 ? { inputTokens, outputTokens, estimated: false } : null;
}

/**
 * A parsed reply; `refusal` has the words of a model that declines to answer; `usage` is null if the provider reports
 * none, and is then counted from the texts and `reasoning`.
 */
export type ReadCompletion = Pick<
  ModelReply,
  "content" | "reasoning" | "state" | "toolCalls" | "finishReason"
> & {
  refusal: string;
  usage: ModelUsage | null;
};

/**
 * Parses a provider's untrusted response. Throws ReplyError.
 * @param options.furtherCalls the number of calls that were removed from the body.
 * @param options.origin the server and model that its unknown fields go back to.
 * @param options.redact takes secrets out of texts before they are cut: a part of a secret is not recognized.
 */
export function readChatCompletion(
  body: unknown,
  request: Pick<ModelRequest, "messages">,
  {
    furtherCalls = 0,
    origin = "",
    redact = (text) => text,
  }: { furtherCalls?: number; origin?: string; redact?: Redact | undefined } = {},
): ReadCompletion {
  const parsed = completion.safeParse(body);
  if (!parsed.success) throw unreadable(body);
  const [{ message, finish_reason: finishReason }] = parsed.data.choices;
  const { content, reasoning } = splitThinking(textOfContent(message.content));
  const { toolCalls, raw } = readCalls(message, request, { furtherCalls, redact });
  return {
    content: replaceNul(content),
    refusal: message.refusal ?? "",
    toolCalls,
    finishReason: finishReason ? redact(finishReason).slice(0, MAX_NAME_LENGTH) : null,
    reasoning: readReasoning((name) => message[name]) + reasoning,
    state: readChatState(message, raw, origin),
    usage: readUsage(parsed.data.usage),
  };
}

function textOfContent(content: z.infer<typeof wireMessage>["content"]): string {
  if (!Array.isArray(content)) return content ?? "";
  const parts = content.slice(0, MAX_CONTENT_PARTS).map((part) => contentPart.safeParse(part));
  return parts.map((part) => part.data?.text ?? "").join("");
}
