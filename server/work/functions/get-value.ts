import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import { requireValidText } from "@/server/base/texts";
import { defineFunction } from "@/server/work/functions/core/define";
import { VALUE_LIMITS } from "@/server/work/functions/core/value-limits";

export const valueKey = z
  .string()
  .min(1)
  .max(VALUE_LIMITS.keyLength)
  .superRefine(requireValidText)
  .describe("The key. All tools and agents of the organization share the same keys.");

export const getValue = defineFunction({
  name: "get_value",
  title: "Get value",
  description: "Reads a value that set_value has stored for the organization, with its version.",
  input: z.object({ key: valueKey }),
  output: z.object({
    value: anyJson.describe("The value; null if there is none."),
    version: z.int().describe("Counts the writes of the key; 0 if there is no value."),
  }),
  errors: {},
  hasSideEffects: false,
  timeoutMs: 10_000,
  example: { input: { key: "cursor" }, output: { value: { page: 3 }, version: 2 } },
  async run({ key }, { values, signal }) {
    return (await values.get(key, signal)) ?? { value: null, version: 0 };
  },
});
