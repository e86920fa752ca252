import { z } from "zod";
import { calculateExpression } from "@/server/expressions/arithmetic";
import { ExpressionError } from "@/server/expressions/expression-error";
import { defineFunction } from "@/server/functions/define";
import { FunctionError } from "@/server/functions/function-error";

/** Exact decimal arithmetic on 64 digits. */
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
  price: "action",
  hasSideEffects: false,
  timeoutMs: 30_000,
  example: { input: { expression: "(17 * 23) / 4" }, output: 97.75 },
  async run({ expression }, { organizationId }) {
    try {
      return await calculateExpression(expression, organizationId);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const message = `"${expression.slice(0, 200)}" cannot be calculated: ${error.message}`;
      throw new FunctionError("invalid_expression", message, { cause: error });
    }
  },
});
