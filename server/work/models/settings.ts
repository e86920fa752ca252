import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { type JsonObject, writeJson } from "@/server/base/json/json";
import { formatLimit, KIB } from "@/server/contract/sizes";
import { REPEAT_OUTPUT_TOKENS, WANTED_OUTPUT_TOKENS } from "@/server/credits/prices";

const count = (tokens: number) => tokens.toLocaleString("en-US");

/** Settings of a model call. Each is sent if it is set. A provider's adaptation leaves out what its model rejects. */
export const modelSettings = z.object({
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("How much answers vary, 0 to 2. Default: the model's."),
  topP: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe("It chooses from this share of likely words, 0 to 1. Default: the model's."),
  maxOutputTokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      `The most tokens of one reply, with its reasoning. Default: ${count(WANTED_OUTPUT_TOKENS)}, and ${count(REPEAT_OUTPUT_TOKENS)} in a repeat.`,
    ),
  reasoningEffort: z
    .enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
    .optional()
    .describe("How long it thinks before it answers. Default: the model's."),
  verbosity: z
    .enum(["low", "medium", "high"])
    .optional()
    .describe("How long its answers are. Default: the model's."),
  parallelToolCalls: z
    .boolean()
    .optional()
    .describe("Whether it may request several calls at once. Default: the model's."),
  modelOptions: z
    .record(z.string(), anyJson)
    .optional()
    .describe("Further parameters of the provider, sent as they are. Default: none."),
});
export type ModelSettings = z.infer<typeof modelSettings>;

// Parameters that Stepwell sends itself, or that multiply a call's tokens.
const RESERVED_OPTIONS: ReadonlySet<string> = new Set([
  "model",
  "models",
  "messages",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "response_format",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "reasoning_effort",
  "verbosity",
  "parallel_tool_calls",
  "n",
  "input",
  "instructions",
  "include",
  "store",
  "max_output_tokens",
  "previous_response_id",
  "conversation",
  "background",
  "system",
  "prompt",
]);

// OpenAI: service_tier, web_search_options, best_of. Anthropic: service_tier, speed, fallbacks. OpenRouter: plugins.
const PRICED_OPTIONS = ["speed", "web_search_options", "plugins", "fallbacks", "best_of"];
const UNPRICED_TIERS: readonly unknown[] = ["auto", "default", "flex", "standard_only"];

/** The issue of options that make a call dearer than the operator's price list; null if there is none. */
export function findPriceIssue(options: JsonObject = {}): string | null {
  const tier = options.service_tier ?? "default";
  const name = UNPRICED_TIERS.includes(tier)
    ? PRICED_OPTIONS.find((each) => each in options)
    : "service_tier";
  if (name === undefined) return null;
  return `modelOptions cannot have ${name} at a provider of this service: it changes the price of the call.`;
}

const MAX_OPTIONS_BYTES = 16 * KIB;

/** The issues of `modelOptions`; empty if they can be sent. */
export function findOptionIssues(options: JsonObject): string[] {
  const issues = Object.keys(options)
    .filter((name) => RESERVED_OPTIONS.has(name))
    .map((name) => `cannot have ${name}: Stepwell sends it itself`);
  if (Buffer.byteLength(writeJson(options)) > MAX_OPTIONS_BYTES)
    issues.push(`must have at most ${formatLimit(MAX_OPTIONS_BYTES)} as JSON`);
  return issues;
}
