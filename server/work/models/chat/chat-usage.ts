import { memberOf } from "@/server/base/json/json";
import { anyTokensOf, reportedUsage, tokensOf } from "@/server/work/models/calls/reported-usage";
import type { ModelUsage } from "@/server/work/models/port";

// Cached tokens: OpenAI, OpenRouter, Groq, Qwen, xAI (`prompt_tokens_details.cached_tokens`), DeepSeek
// (`prompt_cache_hit_tokens`), Kimi (`cached_tokens`), Mistral (`num_cached_tokens`), LiteLLM
// (`cache_read_input_tokens`). Written ones: OpenAI and OpenRouter (`cache_write_tokens`), LiteLLM and Qwen
// (`cache_creation_…`).
const CACHED = ["prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens", "cache_read_input_tokens"];
const WRITTEN = ["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"];

/** The tokens that a provider reports; null if it reports none or implausible ones. */
export function readUsage(raw: unknown): ModelUsage | null {
  const prompt = tokensOf(raw, "prompt_tokens");
  const completion = tokensOf(raw, "completion_tokens");
  if (prompt === null || completion === null) return null;
  const total = tokensOf(raw, "total_tokens") ?? 0;
  const details = memberOf(raw, "prompt_tokens_details");
  const cached = anyTokensOf(details, ["cached_tokens"]) || anyTokensOf(raw, CACHED);
  const written = anyTokensOf(details, WRITTEN) || anyTokensOf(raw, ["cache_creation_input_tokens"]);
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
    reasoning: anyTokensOf(memberOf(raw, "completion_tokens_details"), ["reasoning_tokens"]),
  });
}
