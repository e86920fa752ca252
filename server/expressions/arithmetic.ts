import { z } from "zod";
import { ARITHMETIC_SCRIPT } from "@/server/expressions/arithmetic-script";
import { createRealm, EXPRESSION_TIMEOUT_MS } from "@/server/expressions/realm";

const realm = createRealm("decimal.js/decimal.js", ARITHMETIC_SCRIPT);
const result = z.union([z.number(), z.string()]);

/** Signs that people and models write for operators. */
function normalise(expression: string): string {
  return expression
    .replace(/[×·⋅]/g, "*")
    .replace(/÷/g, "/")
    .replace(/[−–]/g, "-")
    .replace(/π/g, "pi")
    .replace(/[\s=?]+$/, "");
}

/**
 * Calculates on 64 decimal digits. Gives a number, or its digits as text when a double cannot say it: whole numbers beyond
 * 2^53, and what is too large or too small. Throws ExpressionError; takes at most five seconds once
 * it is the turn of `party`, the organization.
 */
export async function calculateExpression(expression: string, party: string): Promise<number | string> {
  return result.parse(await realm.ask({ expression: normalise(expression) }, EXPRESSION_TIMEOUT_MS, party));
}
