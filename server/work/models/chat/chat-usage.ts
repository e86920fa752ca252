import { z } from "zod";
import { reportedUsage, tokenCount, tokenPart, tokenParts } from "@/server/work/models/calls/reported-usage";
import type { ModelUsage } from "@/server/work/models/port";

/**
 * The usage of a chat completion, and where providers put its parts: cached tokens by OpenAI, OpenRouter, Groq, Qwen,
 * xAI (`prompt_tokens_details.cached_tokens`), DeepSeek (`prompt_cache_hit_tokens`), Kimi (`cached_tokens`), Mistral
 * (`num_cached_tokens`) and LiteLLM (`cache_read_input_tokens`); written ones by OpenAI and OpenRouter
 * (`cache_write_tokens`), LiteLLM and Qwen (`cache_creation_…`).
 */
const chatUsage = z.object({
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  total_tokens: tokenPart,
  prompt_tokens_details: tokenParts({
    cached_tokens: tokenPart,
    cache_write_tokens: tokenPart,
    cache_creation_tokens: tokenPart,
    cache_creation_input_tokens: tokenPart,
  }),
  completion_tokens_details: tokenParts({ reasoning_tokens: tokenPart }),
  prompt_cache_hit_tokens: tokenPart,
  cached_tokens: tokenPart,
  num_cached_tokens: tokenPart,
  cache_read_input_tokens: tokenPart,
  cache_creation_input_tokens: tokenPart,
});

/** The tokens that a provider reports; null if it reports none or implausible ones. */
export function readUsage(raw: unknown): ModelUsage | null {
  const parsed = chatUsage.safeParse(raw);
  if (!parsed.success) return null;
  const { prompt_tokens_details: details, completion_tokens_details: output, ...usage } = parsed.data;
  const cached =
    details?.cached_tokens ||
    usage.prompt_cache_hit_tokens ||
    usage.cached_tokens ||
    usage.num_cached_tokens ||
    usage.cache_read_input_tokens;
  const written =
    details?.cache_write_tokens ||
    details?.cache_creation_tokens ||
    details?.cache_creation_input_tokens ||
    usage.cache_creation_input_tokens;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const fromCache = cached + written;
  const beyond = Math.max(0, total - prompt - completion);
  // Older gateways before Anthropic count cached tokens beside the prompt (BerriAI/litellm#5285).
  const areBeside = fromCache > prompt || (fromCache > 0 && beyond === fromCache);
  const input = areBeside ? prompt + fromCache : prompt;
  return reportedUsage({
    input,
    // xAI and Gemini count reasoning only in the total (vercel/ai#12425, router-for-me/CLIProxyAPI#5733).
    output: completion + Math.max(0, total - input - completion),
    cached,
    written,
    reasoning: output?.reasoning_tokens ?? 0,
  });
}
