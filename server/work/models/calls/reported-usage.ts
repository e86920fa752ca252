import { z } from "zod";
import { writeJson } from "@/server/base/json/json";
import { KIB } from "@/server/contract/sizes";
import type { ModelUsage } from "@/server/work/models/port";

const MAX_TOKENS_BELIEVED = 100_000_000;

/** A plausible number of tokens. */
export const tokenCount = z.number().int().min(0).max(MAX_TOKENS_BELIEVED);

/** A number of tokens that may be missing; an implausible one counts as missing. */
export const tokenPart = tokenCount
  .nullish()
  .catch(null)
  .transform((tokens) => tokens ?? 0);

/** An object of such numbers, which may be missing. */
export const tokenParts = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).nullish().catch(null);

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

/** A longer text is not kept. */
const MAX_USAGE_BYTES = 4 * KIB;

/** What a provider reports as its usage, as JSON; undefined if it is no object or too large. */
export function usageText(raw: unknown): string | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  try {
    const text = writeJson(raw);
    return Buffer.byteLength(text) > MAX_USAGE_BYTES ? undefined : text;
  } catch {
    // It nests too deeply.
    return undefined;
  }
}

/** The usage of two attempts of a call. */
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
