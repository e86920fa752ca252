import { z } from "zod";
import type { Json } from "@/server/base/json/json";
import { KIB, MIB } from "@/server/contract/sizes";

/** The limits of the values that an organization stores with `set_value`. */
export const VALUE_LIMITS = {
  keyLength: 200,
  valueBytes: 256 * KIB,
  keys: 10_000,
  totalBytes: 64 * MIB,
  ttlSeconds: 366 * 86_400,
} as const;

export type StoredValue = { value: Json; version: number };
export type NewValue = { key: string; value: Json; ttlSeconds?: number; ifVersion?: number };
/** The outcome of a write; `version` is the key's current one, 0 when there is no value. */
export const writeOutcome = z.object({
  outcome: z.enum(["written", "conflict", "too many", "too large"]),
  version: z.number(),
});
export type WriteOutcome = z.infer<typeof writeOutcome>;

export type KeyValues = {
  get(key: string, signal: AbortSignal): Promise<StoredValue | null>;
  set(value: NewValue, signal: AbortSignal): Promise<WriteOutcome>;
};
