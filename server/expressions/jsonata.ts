import { z } from "zod";
import { JSONATA_SCRIPT } from "@/server/expressions/jsonata-script";
import { createRealm, EXPRESSION_TIMEOUT_MS, ExpressionError } from "@/server/expressions/realm";
import type { Json } from "@/server/json";

/** What an expression may know of moment and chance; the same facts give the same result. */
export type ExpressionFacts = {
  /** What `$now()` and `$millis()` tell. */
  now: Date;
  /** Seeds `$random()` and `$shuffle()`. */
  seed: string;
  /** Whose expression it is: the organization. While many are evaluated, parties take turns. */
  party: string;
};

/** A node of JSONata's syntax tree, as far as it is read here. */
export type ExpressionNode = { [key: string]: Json };

/** Longest expression, in characters. */
export const MAX_EXPRESSION_LENGTH = 32 * 1024;

const realm = createRealm("jsonata/jsonata.min.js", JSONATA_SCRIPT);
const syntaxTree: z.ZodType<ExpressionNode> = z.record(z.string(), z.custom<Json>());

function checkLength(expression: string): void {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw new ExpressionError(`The expression has more than ${MAX_EXPRESSION_LENGTH} characters.`);
  }
}

/** Parses a JSONata expression. Throws ExpressionError. */
export async function parseExpression(expression: string, party: string): Promise<ExpressionNode> {
  checkLength(expression);
  return syntaxTree.parse(await realm.ask({ expression, parse: true }, EXPRESSION_TIMEOUT_MS, party));
}

/**
 * Evaluates a JSONata expression that a stranger wrote over the JSON text `input`: deterministic, and stopped
 * whatever it does (endless recursion, a catastrophic regular expression, a huge structure) when `timeoutMs`, 5,000 by
 * default, is over. Gives undefined where JSONata finds nothing. Throws ExpressionError.
 */
export async function evaluateExpression(
  expression: string,
  input: string,
  { now, seed, party }: ExpressionFacts,
  timeoutMs: number = EXPRESSION_TIMEOUT_MS,
): Promise<Json | undefined> {
  checkLength(expression);
  return realm.ask({ expression, input, now: now.getTime(), seed }, timeoutMs, party);
}
