import { z } from "zod";
import { evaluateExpression, MAX_EXPRESSION_LENGTH } from "@/server/expressions/jsonata";
import { defineFunction } from "@/server/functions/define";
import type { Json } from "@/server/json";

/** JSONata over a JSON value. */
export const transformJson = defineFunction({
  name: "transform_json",
  description:
    "Picks from, reshapes or summarises a JSON value with a JSONata expression. " +
    "Gives null when the expression finds nothing.",
  input: z.object({
    value: z
      .custom<Json>((value) => value !== undefined, "is required")
      .describe("The JSON value to work on."),
    expression: z
      .string()
      .min(1)
      .max(MAX_EXPRESSION_LENGTH)
      .describe(
        'A JSONata expression, such as "items[price > 10].name" or "{ \'total\': $sum(items.price) }".',
      ),
  }),
  // For the wait for its turn as well: the expression's own limit is shorter.
  timeoutMs: 30_000,
  async run({ value, expression }, { clock, idempotencyKey, organizationId }) {
    const facts = { now: clock.now(), seed: idempotencyKey, organizationId };
    return (await evaluateExpression(expression, value, facts)) ?? null;
  },
});
