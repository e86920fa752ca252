import { z } from "zod";
import { calculateExpression } from "@/server/work/expressions/arithmetic";
import { defineFunction, FunctionError } from "@/server/work/functions/core/define";

export const calculate = defineFunction({
  name: "calculate",
  title: "Calculate",
  description:
    "Calculates an arithmetic expression exactly, with decimal numbers: + - * / ^ % ! ( ), sqrt, round, min, max, log, sin and the like. " +
    "Returns a number, or its digits as text if a JSON number cannot hold it.",
  input: z.object({
    expression: z
      .string()
      .min(1)
      .max(1000)
      .describe('The expression, such as "(17 * 23) / 4" or "round(2/3, 2)".'),
  }),
  output: z
    .union([z.number(), z.string()])
    .describe("The result, or its digits as text if a JSON number cannot hold it exactly enough."),
  errors: { invalid_expression: "The expression is invalid, divides by zero or has no real result." },
  parsedFields: { expression: "arithmetic" },
  hasSideEffects: false,
  timeoutMs: 30_000,
  example: { input: { expression: "(17 * 23) / 4" }, output: 97.75 },
  async run({ expression }, { organizationId }) {
    const result = await calculateExpression(expression, organizationId);
    if ("value" in result) return result.value;
    const message = `"${expression.slice(0, 200)}" cannot be calculated: ${result.issue}`;
    throw new FunctionError("invalid_expression", message);
  },
});
