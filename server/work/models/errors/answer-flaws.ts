import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { type AnswerFlaw, type ModelRequest, type OfferedTool, sentTools } from "@/server/work/models/port";
import { type ReadReply, ReplyError, ResponseError, statedText } from "./replies";

/** `unavailable`: the provider broke the answer off. `window`: the context window is full, so no limit helps. */
type FlawKind = AnswerFlaw | "unavailable" | "window";

/** A complete response without a usable answer. */
export class FlawedAnswer extends Error {
  readonly flaw: FlawKind;
  constructor(flaw: FlawKind, message: string) {
    super(message);
    this.name = "FlawedAnswer";
    this.flaw = flaw;
  }
}

// OpenAI: length, content_filter (API reference, chat completions, finish_reason); max_output_tokens (responses,
// incomplete_details), and their status if they have no details. Anthropic: max_tokens,
// model_context_window_exceeded, refusal (messages, stop_reason). Mistral: model_length. Gateways pass the words of
// Gemini (MAX_TOKENS, SAFETY, …) on, which are also behind a colon.
const CUT_OFF = new Set(["length", "model_length", "max_tokens", "max_output_tokens", "incomplete"]);
const WINDOW_FULL = new Set(["model_context_window_exceeded"]);
const FILTERED = new Set([
  ...["content_filter", "refusal", "safety", "prohibited_content", "blocklist", "spii", "recitation"],
  ...["image_safety", "image_prohibited_content", "image_recitation", "model_armor"],
  // Z.ai (promptfoo/promptfoo#9905), Bedrock (pydantic/pydantic-ai#7816), Cohere.
  ...["sensitive", "guardrail_intervened", "content_filtered", "error_toxic"],
]);
// The provider broke the answer off: DeepSeek's API reference, Z.ai's, Gemini's
// (googleapis/python-genai#1836), Cohere's (ankit373/hydra#976), Bedrock's, and vLLM's
// (vllm-project/vllm#57082).
const BROKEN_OFF = new Set([
  "insufficient_system_resource",
  "network_error",
  "malformed_function_call",
  "unexpected_tool_call",
  ...["error", "error_limit", "timeout"],
  ...["malformed_model_output", "malformed_tool_use"],
  "abort",
]);

// OpenAI: tool_calls, function_call. Anthropic: tool_use, pause_turn. The text is what the model says before it calls.
const CALLING = new Set(["tool_calls", "function_call", "tool_use", "pause_turn"]);

/**
 * The reason why a response is no usable answer; null if it is one. Complete calls are usable although the answer
 * was cut off behind them.
 */
export function findFlaw(
  reply: ReadReply,
  request: Pick<ModelRequest, "tools" | "withheldTools" | "messages" | "maxOutputTokens">,
): FlawedAnswer | null {
  const { content, refusal, toolCalls, nativeReason = "" } = reply;
  const reasons = reasonsIn(reply.finishReason ?? "");
  const endsWith = (words: ReadonlySet<string>) => reasons.some((reason) => words.has(reason));
  if (refusal.trim() !== "") return new FlawedAnswer("declined", `declined to answer: ${refusal}`);
  if (endsWith(FILTERED)) {
    const words = content.trim() === "" ? "" : `: ${content}`;
    return new FlawedAnswer("declined", `filtered the answer (${reply.finishReason})${words}`);
  }
  if (endsWith(BROKEN_OFF))
    return new FlawedAnswer("unavailable", `broke the answer off (${reply.finishReason})`);
  // OpenRouter may say "stop" (earendil-works/pi#8511).
  if (reasonsIn(nativeReason).some((reason) => BROKEN_OFF.has(reason)))
    return new FlawedAnswer("unavailable", `broke the answer off (${nativeReason})`);
  const isUsable = toolCalls.length > 0 && toolCalls.every(isComplete);
  if (endsWith(WINDOW_FULL) && !isUsable)
    return new FlawedAnswer("window", "cut the answer off: the model's context window is full");
  if (endsWith(CUT_OFF) && !isUsable) return cutOff(request);
  if (toolCalls.length === 0 && request.tools.length > 0 && endsWith(CALLING))
    return new FlawedAnswer("empty", `stopped to call a function, but sent no call (${reply.finishReason})`);
  // A call that closes a conversation asks for text.
  const isClosing = () => request.tools.length === 0 && request.messages.some(({ role }) => role === "tool");
  const marked = toolCalls.length === 0 ? findMarkedCall(content, sentTools(request)) : null;
  if (marked !== null) return new FlawedAnswer("empty", `sent a call of ${marked} only as markup`);
  if (content.trim() !== "") return null;
  return toolCalls.length === 0 || isClosing() ? new FlawedAnswer("empty", "gave an empty answer") : null;
}

// DeepSeek (sgl-project/sglang#40236), Kimi (NousResearch/hermes-agent#24534), MiniMax (earendil-works/pi#368).
const MARKED =
  /(?:<[|｜‖]{1,2}DSML[|｜‖]{1,2}invoke name="|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?|<\|tool_call_begin\|>\s*(?:functions[.:])?|<minimax:tool_call>\s*<invoke name=")([\w-]{1,128})(?=\s*[\n"<:])/g;
// Blocks between fences, code within a line, and indented lines. Without its limit, single marks take quadratic time.
const CODE =
  /(`{3,}|(?<![^\n])~{3,})[\s\S]*?(?:\1|$)|(`{1,2})(?!`)[^\n]{0,300}?(?<!`)\2(?!`)|(?<![^\n])(?: {4}|\t).*/g;

/**
 * The tool whose call the server did not recognize in the text. Null if there is none outside of code: an answer may
 * be about such marks.
 */
function findMarkedCall(content: string, tools: readonly OfferedTool[]): string | null {
  const names = new Set(tools.map(({ name }) => name));
  const findIn = (text: string) =>
    Array.from(text.matchAll(MARKED), ([, name = ""]) => name).find((name) => names.has(name)) ?? null;
  if (findIn(content) === null || tryParseJson(content) !== undefined) return null;
  return findIn(content.replace(CODE, "`"));
}

const reasonsIn = (text: string) => text.toLowerCase().split(/:\s*/);

function cutOff({ maxOutputTokens }: Pick<ModelRequest, "maxOutputTokens">): FlawedAnswer {
  const limit = maxOutputTokens.toLocaleString("en-US");
  return new FlawedAnswer("truncated", `cut the answer off at the limit of ${limit} output tokens`);
}

// OpenAI and Azure, if reasoning uses all of the limit (openai/openai-python#2886).
const RAN_OUT = /could not finish the message because max_tokens/i;

/** The truncated answer that a provider reports as an error; null for another error. */
export function findErrorFlaw(
  error: unknown,
  request: Pick<ModelRequest, "maxOutputTokens">,
): FlawedAnswer | null {
  const isReport = error instanceof ResponseError || error instanceof ReplyError;
  return isReport && RAN_OUT.test(statedText(error)) ? cutOff(request) : null;
}

const isComplete = (call: { arguments: string }) => isJsonObject(tryParseJson(call.arguments));
