import { z } from "zod";
import type { ModelUsage } from "@/server/work/models/port";

const MAX_TOKENS_BELIEVED = 100_000_000;

/** A plausible number of tokens. */
export const tokenCount = z.number().int().min(0).max(MAX_TOKENS_BELIEVED);

/** The usage that a provider reports; null if it is none. */
export const reportedUsage = (inputTokens: number, outputTokens: number): ModelUsage | null =>
  inputTokens + outputTokens > 0 ? { inputTokens, outputTokens, estimated: false } : null;
