import { ReplyError, ResponseError, statedText } from "@/server/work/models/errors/replies";

// Sources: OpenAI's and Anthropic's guides to errors; Gemini, xAI, Groq, OpenRouter, LM Studio, MiniMax,
// Kimi, Mistral and Copilot in badlogic/pi-mono (packages/ai/src/utils/overflow.ts); llama.cpp in
// ggml-org/llama.cpp#15780 and #16486; Bedrock; llama-cpp-python in abetlen/llama-cpp-python#385; Qwen in
// QwenLM/qwen-code#2384.
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
];

/** The figures, as far as they are stated: tokens of the window, and of the input. */
export type Overflow = { window: number | null; input: number | null };

const WINDOW = [
  /maximum context length (?:is|of) (\d[\d,]*)/i,
  /(?<!\d)(\d[\d,]{0,15}) maximum context length/i,
  /> (\d[\d,]*)(?: maximum)?\s*[,.]?/,
  /tokens allowed \((\d[\d,]*)\)/i,
  /maximum prompt length is (\d[\d,]*)/i,
  /context size \((\d[\d,]*)/i,
  /context window of (\d[\d,]*)/i,
  /token limit: (\d[\d,]*)/i,
  /exceeds the limit of (\d[\d,]*)/i,
  /input length should be \[1, (\d+)/i,
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
];

/** The context error of a provider; null for another error. */
export function readOverflow(error: unknown): Overflow | null {
  if (!(error instanceof ResponseError) && !(error instanceof ReplyError)) return null;
  if (!isOverflow(error)) return null;
  const find = (patterns: readonly RegExp[]) => {
    const found = patterns.map((pattern) => pattern.exec(statedText(error))?.[1]).find((text) => text);
    return found === undefined ? null : Number(found.replaceAll(",", ""));
  };
  return { window: find(WINDOW), input: find(INPUT) };
}

export function isOverflow(error: ResponseError | ReplyError): boolean {
  const { status, code } = error;
  if (code === "context_length_exceeded" || status === 413) return true;
  return status !== 429 && TOO_LONG.some((pattern) => pattern.test(statedText(error)));
}
