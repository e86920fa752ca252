import { expect, test } from "vitest";
import { readMessageUsage } from "@/server/work/models/anthropic/message";
import { readUsage } from "@/server/work/models/chat/chat-usage";
import { readResponseUsage } from "@/server/work/models/responses/response";
import { addUsage, usageText } from "./reported-usage";

const OPENAI = {
  prompt_tokens: 2006,
  completion_tokens: 300,
  total_tokens: 2306,
  prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 128, accepted_prediction_tokens: 0 },
};
const cached = { inputTokens: 2006, outputTokens: 300, cachedInputTokens: 1920, estimated: false };

test.each<[string, object, object]>([
  ["OpenAI, Groq, Qwen", OPENAI, { ...cached, reasoningTokens: 128 }],
  [
    "OpenRouter",
    {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      cost: 0.95,
      cost_details: { upstream_inference_cost: 19 },
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 100, audio_tokens: 0 },
    },
    { inputTokens: 194, outputTokens: 2, cachedInputTokens: 50, cacheWriteTokens: 100, estimated: false },
  ],
  [
    "DeepSeek",
    {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_cache_hit_tokens: 1920,
      prompt_cache_miss_tokens: 86,
      completion_tokens_details: { reasoning_tokens: 9 },
    },
    { ...cached, reasoningTokens: 9 },
  ],
  ["Kimi", { prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306, cached_tokens: 1920 }, cached],
  ["Mistral", { prompt_tokens: 2006, completion_tokens: 300, num_cached_tokens: 1920 }, cached],
  [
    "LiteLLM before Anthropic",
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_creation_tokens: 30 },
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
    },
    { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, cacheWriteTokens: 30, estimated: false },
  ],
  [
    "an older gateway, with cached tokens beside the prompt",
    {
      prompt_tokens: 10,
      completion_tokens: 20,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
    },
    { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, cacheWriteTokens: 30, estimated: false },
  ],
  [
    "a gateway whose total has the cached tokens",
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 180, cache_read_input_tokens: 60 },
    { inputTokens: 160, outputTokens: 20, cachedInputTokens: 60, estimated: false },
  ],
  [
    "xAI, with reasoning beside the completion",
    {
      prompt_tokens: 10_120,
      completion_tokens: 1_499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
    },
    {
      inputTokens: 10_120,
      outputTokens: 4_308,
      cachedInputTokens: 128,
      reasoningTokens: 2_809,
      estimated: false,
    },
  ],
  [
    "Gemini, with reasoning only in the total",
    { prompt_tokens: 20, completion_tokens: 424, total_tokens: 1_016 },
    { inputTokens: 20, outputTokens: 996, estimated: false },
  ],
  [
    "implausible parts",
    {
      ...OPENAI,
      total_tokens: "many",
      prompt_tokens_details: { cached_tokens: -1 },
      completion_tokens_details: "none",
    },
    { inputTokens: 2006, outputTokens: 300, estimated: false },
  ],
])("chat: %s", (_, raw, usage) => {
  expect(readUsage(raw)).toEqual(usage);
});

test("responses: parts of input and output", () => {
  const raw = {
    input_tokens: 2410,
    input_tokens_details: { cached_tokens: 1920, cache_write_tokens: 400 },
    output_tokens: 212,
    output_tokens_details: { reasoning_tokens: 128 },
    total_tokens: 2622,
  };
  expect(readResponseUsage(raw)).toEqual({
    inputTokens: 2410,
    outputTokens: 212,
    cachedInputTokens: 1920,
    cacheWriteTokens: 400,
    reasoningTokens: 128,
    estimated: false,
  });
  expect(readResponseUsage({ input_tokens: 3, output_tokens: 4, input_tokens_details: null })).toEqual({
    inputTokens: 3,
    outputTokens: 4,
    estimated: false,
  });
});

test("anthropic: the cache is beside the input", () => {
  const raw = {
    input_tokens: 10,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 60,
    cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 40 },
  };
  expect(readMessageUsage(raw)).toEqual({
    inputTokens: 100,
    outputTokens: 50,
    cachedInputTokens: 60,
    cacheWriteTokens: 30,
    reasoningTokens: 40,
    estimated: false,
  });
});

test("the usage of attempts adds up, part by part", () => {
  const one = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, estimated: false };
  const other = { inputTokens: 20, outputTokens: 6, reasoningTokens: 3, estimated: true };
  expect(addUsage(one, other)).toEqual({
    inputTokens: 30,
    outputTokens: 11,
    cachedInputTokens: 4,
    reasoningTokens: 3,
    estimated: true,
  });
});

test("what a provider reports is kept as it came, but bounded", () => {
  expect(JSON.parse(usageText(OPENAI) ?? "")).toEqual(OPENAI);
  expect(usageText({ filler: "x".repeat(5_000) })).toBeUndefined();
  expect(usageText(null)).toBeUndefined();
  expect(usageText(undefined)).toBeUndefined();
});
