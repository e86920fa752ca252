import { memberOf, writeJson } from "@/server/base/json/json";
import { KIB } from "@/server/contract/sizes";
import type { ModelUsage } from "@/server/work/models/port";

const MAX_TOKENS_BELIEVED = 100_000_000;

/** A plausible number of tokens among the members of an untrusted value; null if there is none. */
export function tokensOf(value: unknown, name: string): number | null {
  const tokens = memberOf(value, name);
  const isPlausible =
    Number.isInteger(tokens) && Number(tokens) >= 0 && Number(tokens) <= MAX_TOKENS_BELIEVED;
  return isPlausible ? Number(tokens) : null;
}

/** The first of these members that counts any tokens; else 0. */
export function anyTokensOf(value: unknown, names: readonly string[]): number {
  for (const name of names) {
    const tokens = tokensOf(value, name);
    if (tokens) return tokens;
  }
  return 0;
}

/** Cached and written tokens are part of the input, reasoning is part of the output. */
type Counts = { input: number; output: number; cached?: number; written?: number; reasoning?: number };

/** The usage that a provider reports; null if it is none. */
export function reportedUsage({
  input,
  output,
  cached = 0,
  written = 0,
  reasoning = 0,
}: Counts): ModelUsage | null {
  if (input + output === 0) return null;
  const usage: ModelUsage = { inputTokens: input, outputTokens: output, estimated: false };
  if (cached > 0) usage.cachedInputTokens = Math.min(cached, input);
  if (written > 0) usage.cacheWriteTokens = Math.min(written, input - Math.min(cached, input));
  if (reasoning > 0) usage.reasoningTokens = Math.min(reasoning, output);
  return usage;
}

const MAX_USAGE_LENGTH = 4 * KIB;

/** The usage that a provider reports, as JSON; undefined if it is no object or too large. */
export function usageText(raw: unknown): string | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  try {
    const text = writeJson(raw);
    return text.length > MAX_USAGE_LENGTH ? undefined : text;
  } catch {
    // It nests too deeply.
    return undefined;
  }
}

export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  const sum: ModelUsage = {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    estimated: one.estimated || other.estimated,
  };
  for (const part of ["cachedInputTokens", "cacheWriteTokens", "reasoningTokens"] as const) {
    const tokens = (one[part] ?? 0) + (other[part] ?? 0);
    if (tokens > 0) sum[part] = tokens;
  }
  return sum;
}
