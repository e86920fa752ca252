import {
  isFailedGeneration,
  ReplyError,
  ResponseError,
  statedText,
} from "@/server/work/models/errors/replies";

// Sources: OpenAI's and Anthropic's guides to errors; Gemini, xAI, Groq, OpenRouter, LM Studio, MiniMax,
// Kimi, Mistral and Copilot in badlogic/pi-mono (packages/ai/src/utils/overflow.ts); llama.cpp in
// ggml-org/llama.cpp#15780 and #16486; Bedrock; llama-cpp-python in abetlen/llama-cpp-python#385; Qwen in
// QwenLM/qwen-code#2384; SGLang; LM Studio in lmstudio-ai/lmstudio-bug-tracker#546; Ollama; Z.ai's list of codes; TGI;
// SiliconFlow in langgenius/dify#19394; Doubao in bytedance/deer-flow#583. llama.cpp's "Context size has been exceeded"
// is no such error: other requests may fill the cache (ggml-org/llama.cpp#23652).
const TOO_LONG = [
  /prompt is too long/i,
  /input is too long for requested model/i,
  /input length and `?max_tokens`? exceed context limit/i,
  /exceeds? the (?:available )?context (?:window|size|length)/i,
  /exceeds? (?:the )?context window of \d/i,
  /maximum context length/i,
  /input token count .{0,40}exceeds the maximum/i,
  /maximum prompt length is \d/i,
  /reduce the length of the (?:input )?(?:messages|prompt)/i,
  /greater than the context length/i,
  /context window exceeds limit/i,
  /exceeded model token limit/i,
  /prompt token count .{0,40}exceeds the limit/i,
  /context[_ ]length[_ ]exceeded/i,
  /range of input length should be/i,
  /context length is only \d/i,
  /longer than the model's context length/i,
  /trying to keep the first \d+ tokens/i,
  /prompt too long/i,
  /prompt exceeds max length/i,
  /inputs`? tokens \+ `?max_new_tokens`? must be <=/i,
  /inputs`? must have less than \d+ tokens/i,
  /length of prompt_tokens \(\d+\) must be less than/i,
  /number of input tokens \(\d+\) has exceeded/i,
  /exceed max message tokens/i,
];

/**
 * The figures, as far as they are stated: tokens of the window, and of the input. `isLeast`: the input has at least as
 * many.
 */
export type Overflow = { window: number | null; input: number | null; isLeast: boolean };

const WINDOW = [
  /maximum context length (?:is|of) (\d[\d,]*)/i,
  /context length (?:is|of) only (\d[\d,]*)/i,
  /context length \((\d[\d,]*)/i,
  /(?<!\d)(\d[\d,]{0,15}) maximum context length/i,
  /max_new_tokens`? must be <= (\d+)/i,
  /inputs`? must have less than (\d+)/i,
  /> (\d[\d,]*)(?: maximum)?\s*[,.]?/,
  /tokens allowed \((\d[\d,]*)\)/i,
  /maximum prompt length is (\d[\d,]*)/i,
  /context size \((\d[\d,]*)/i,
  /context window of (\d[\d,]*)/i,
  /token limit: (\d[\d,]*)/i,
  /exceeds the limit of (\d[\d,]*)/i,
  /input length should be \[1, (\d+)/i,
  /max_(?:seq_len|prompt_tokens) \((\d+)/i,
];
const INPUT = [
  /(?<!\d)(\d[\d,]{0,15}) (?:input tokens|in the messages|in your prompt|of text input|prompt tokens)/i,
  /too long: (\d[\d,]*) tokens/i,
  /context limit: (\d[\d,]*) \+/i,
  /token count (?:of )?\(?(\d[\d,]*)/i,
  /contains (\d[\d,]*) tokens/i,
  /resulted in (\d[\d,]*)/i,
  /request \((\d[\d,]*) tokens\)/i,
  /requested: (\d[\d,]*)/i,
  /(?<!\d)(\d[\d,]{0,15}) tokens from the input/i,
  /the input \((\d[\d,]*) tokens\)/i,
  /keep the first (\d[\d,]*) tokens/i,
  /given: (\d+)/i,
  /(?:length of prompt_tokens|number of input tokens) \((\d+)/i,
];

// vLLM stops counting at the first token that leaves too little room for the output (vllm-project/vllm#33418, #36197).
const LEAST = /(?:contains|total of) at least \d|upper bound for \d/i;
const OUTPUT = /requested (\d[\d,]*) output tokens/i;

// OpenAI with 429, Groq with 413: one request has more tokens than may be sent in a minute.
const PER_MINUTE = /request too large.{0,400}?\blimit (\d[\d,]*), requested (\d[\d,]*)/is;

/**
 * The limit of tokens in a minute that the request exceeds alone, so that no wait helps. `requested` mostly includes the
 * limit of the output. Null for another error.
 */
export function readMinuteLimit(error: unknown): { limit: number; requested: number } | null {
  if (!(error instanceof ResponseError) && !(error instanceof ReplyError)) return null;
  const [, limit, requested] = (PER_MINUTE.exec(statedText(error)) ?? []).map((text) =>
    Number(text.replaceAll(",", "")),
  );
  return limit !== undefined && requested !== undefined && limit < requested ? { limit, requested } : null;
}

/** The context error of a provider; null for another error. */
export function readOverflow(error: unknown): Overflow | null {
  if (!(error instanceof ResponseError) && !(error instanceof ReplyError)) return null;
  if (!isOverflow(error)) return null;
  const text = statedText(error);
  const window = numberIn(text, WINDOW);
  const input = numberIn(text, INPUT);
  const output = numberIn(text, [OUTPUT]);
  const isFirstTooMany =
    window !== null && input !== null && output !== null && input === window - output + 1;
  return { window, input, isLeast: isFirstTooMany || LEAST.test(text) };
}

/** The number that the first matching pattern captures. */
export function numberIn(text: string, patterns: readonly RegExp[]): number | null {
  const found = patterns.map((pattern) => pattern.exec(text)?.[1]).find((each) => each);
  return found === undefined ? null : Number(found.replaceAll(",", ""));
}

export function isOverflow(error: ResponseError | ReplyError): boolean {
  const { status, code } = error;
  if (isFailedGeneration(error)) return false;
  if (code === "context_length_exceeded" || status === 413 || readMinuteLimit(error) !== null) return true;
  return status !== 429 && TOO_LONG.some((pattern) => pattern.test(statedText(error)));
}
