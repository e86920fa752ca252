import { z } from "zod";
import { anyJson } from "@/server/base/json/any-json";
import type { Json } from "@/server/base/json/json";
import {
  ExpressionError,
  evaluateExpression,
  MAX_EXPRESSION_LENGTH,
} from "@/server/work/expressions/jsonata";
import { defineFunction, failAs } from "@/server/work/functions/core/define";

export const transformJson = defineFunction({
  name: "transform_json",
  title: "Transform JSON",
  description:
    "Selects from, reshapes or summarizes a JSON value with a JSONata expression. " +
    "Returns null if the expression finds nothing.",
  input: z.object({
    value: z
      .custom<Json>((value) => value !== undefined, "is required")
      .describe("The JSON value to transform."),
    expression: z
      .string()
      .min(1)
      .max(MAX_EXPRESSION_LENGTH)
      .describe(
        'A JSONata expression, such as "items[price > 10].name" or "{ \'total\': $sum(items.price) }".',
      ),
  }),
  output: anyJson.describe("The result of the expression; null if it finds nothing."),
  errors: { invalid_expression: "The expression is invalid, fails on the value or takes too long." },
  limits: [
    "numbers with more digits than JavaScript has are texts for the expression, with a note at the step",
  ],
  parsedFields: { expression: "expression" },
  hasSideEffects: false,
  // Includes the wait for a sandbox; the limit of the expression itself is shorter.
  timeoutMs: 30_000,
  example: {
    input: {
      value: { items: [{ price: 5 }, { price: 12 }] },
      expression: "{ 'count': $count(items), 'total': $sum(items.price) }",
    },
    output: { count: 2, total: 17 },
  },
  async run({ value, expression }, { clock, idempotencyKey, organizationId, signal, memory, note }) {
    const facts = { now: clock.now(), seed: idempotencyKey, organizationId, signal, memory, note };
    const fail = failAs(ExpressionError, "invalid_expression");
    return (await evaluateExpression(expression, value, facts).catch(fail)) ?? null;
  },
});
