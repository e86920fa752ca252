import { z } from "zod";
import type { Json } from "@/server/base/json/json";
import { largeJsonBytes } from "@/server/base/json/large";
import { formatLimit } from "@/server/contract/sizes";
import { cleanLargeJson } from "@/server/guard/secrets/stored-output";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";
import { VALUE_LIMITS } from "@/server/work/functions/core/value-limits";
import { valueKey } from "@/server/work/functions/get-value";

const { valueBytes, keys, totalBytes, ttlSeconds } = VALUE_LIMITS;

// Of an `int` column.
const MAX_VERSION = 2_147_483_647;

export const setValue = defineFunction({
  name: "set_value",
  title: "Set value",
  description:
    "Stores a JSON value under a key for later runs of the organization. With ifVersion, it is stored only if " +
    "the key has not changed since (compare-and-set).",
  input: z.object({
    key: valueKey,
    value: z.custom<Json>((value) => value !== undefined, "is required").describe("Any JSON value."),
    ttlSeconds: z
      .int()
      .min(1)
      .max(ttlSeconds)
      .optional()
      .describe("The value expires after this many seconds. Default: never."),
    ifVersion: z
      .int()
      .min(0)
      .max(MAX_VERSION)
      .optional()
      .describe("The version that get_value returned; 0 if there must be no value yet."),
  }),
  output: z.object({ version: z.int().describe("The version of the value that was stored.") }),
  errors: {
    version_conflict: "The key has another version than ifVersion.",
    value_too_large: `The value is larger than ${formatLimit(valueBytes)}.`,
    store_full: `The organization stores ${keys.toLocaleString("en-US")} keys or ${formatLimit(totalBytes)} already.`,
  },
  limits: [
    `${formatLimit(valueBytes)} for a value`,
    `${keys.toLocaleString("en-US")} keys and ${formatLimit(totalBytes)} for an organization`,
  ],
  hasSideEffects: true,
  timeoutMs: 10_000,
  example: { input: { key: "cursor", value: { page: 3 }, ifVersion: 1 }, output: { version: 2 } },
  async run({ key, value, ttlSeconds: ttl, ifVersion }, { values, signal }) {
    const stored = await cleanLargeJson(value);
    if ((await largeJsonBytes(stored)) > valueBytes) {
      throw new FunctionError("value_too_large", `The value is larger than ${formatLimit(valueBytes)}.`);
    }
    const written = {
      key,
      value: stored,
      ...(ttl !== undefined && { ttlSeconds: ttl }),
      ...(ifVersion !== undefined && { ifVersion }),
    };
    const { outcome, version } = await values.set(written, signal);
    if (outcome === "written") return { version };
    if (outcome === "conflict") {
      const message = `"${key}" has version ${version}, not ${ifVersion ?? 0}: it was changed meanwhile.`;
      throw new FunctionError("version_conflict", message);
    }
    const limit = outcome === "too many" ? `${keys.toLocaleString("en-US")} keys` : formatLimit(totalBytes);
    throw new FunctionError("store_full", `The organization may store at most ${limit}.`);
  },
});
