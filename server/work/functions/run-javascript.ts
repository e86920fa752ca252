import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import type { Json } from "@/server/base/json/json";
import { runScript, SCRIPT_LIMITS } from "@/server/guard/sandbox/run-script";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";

export const runJavascript = defineFunction({
  name: "run_javascript",
  title: "Run JavaScript",
  description:
    "Runs JavaScript without network, files or timers and returns its value. The code is the body of a function " +
    "of input, such as `return input.items.length`.",
  input: z.object({
    code: z
      .string()
      .min(1)
      .max(SCRIPT_LIMITS.codeLength)
      .describe("The body of an async function of `input`; what it returns is the output."),
    input: z.custom<Json>().optional().describe("Any JSON value. Default: null."),
  }),
  output: anyJson.describe("The returned value as JSON; null if nothing is returned."),
  errors: {
    script_failed: "The code has a syntax error or throws.",
    script_limit: "The script needs too much time or memory, or its result is too large.",
  },
  limits: [
    `${SCRIPT_LIMITS.timeoutMs / 1000} seconds of execution`,
    `${SCRIPT_LIMITS.memoryMib} MiB of memory`,
    "100 lines of console output, shown with the step",
    "numbers with more digits than JavaScript has are texts in `input`, with a note at the step",
    "the clock always shows the time of the call, and Math.random gives the same numbers when the call is repeated",
  ],
  parsedFields: { code: "script" },
  hasSideEffects: false,
  // Includes the wait for a thread.
  timeoutMs: 60_000,
  example: {
    input: {
      code: "const total = input.prices.reduce((sum, price) => sum + price, 0);\nreturn { total };",
      input: { prices: [2, 3.5] },
    },
    output: { total: 5.5 },
  },
  async run({ code, input = null }, { clock, idempotencyKey, organizationId, memory, signal, print, note }) {
    const facts = { now: clock.now(), seed: idempotencyKey, organizationId, memory, signal };
    const result = await runScript(code, input, facts);
    for (const each of result.notes) note(each);
    print(result.console);
    if ("value" in result) return result.value;
    throw new FunctionError(result.failure, result.message);
  },
});
