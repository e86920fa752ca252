import { z } from "zod";
import { quoteExact } from "@/server/base/json/exact-number";
import type { Json } from "@/server/base/json/json";
import { readLargeJson, stringifyLarge } from "@/server/base/json/large";
import { isDeeper, MAX_JSON_DEPTH } from "@/server/base/json/text";
import { MIB } from "@/server/contract/sizes";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { createSandbox, type Evaluation, NUMBERS_AS_TEXTS } from "@/server/guard/sandbox/sandbox";
import { readInstalled } from "@/server/guard/sandbox/thread-pool";
import { JSONATA_SCRIPT } from "@/server/work/expressions/jsonata-script";
import { evaluateReference } from "@/server/work/expressions/plain-reference";

/** An error in an expression or its evaluation. The message is for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** The sources of time and randomness for an expression; the same facts give the same result. */
export type ExpressionFacts = {
  now: Date;
  seed: string;
  organizationId: string;
  /** Once it is aborted, evaluations throw its reason. */
  signal?: AbortSignal | undefined;
  /** Excludes the wait for a thread; 10 s by default. */
  timeoutMs?: number;
  memory?: StepMemory | undefined;
  /** Called with a note for the step if the expression gets numbers as texts. */
  note?: ((text: string) => void) | undefined;
};

/** A node of JSONata's syntax tree, as far as it is used here. */
export type ExpressionNode = { [key: string]: Json };

export const MAX_EXPRESSION_LENGTH = 32 * 1024;
const EXPRESSION_TIMEOUT_MS = 10_000;

const MEMORY_MIB = 256;

const sandbox = createSandbox({
  subject: "expression",
  scripts: () => [
    `const module = { exports: {} }, exports = module.exports;\n${readInstalled("jsonata/jsonata.min.js")}`,
    JSONATA_SCRIPT,
  ],
  memoryMib: MEMORY_MIB,
  answerLength: 16 * MIB,
});
const syntaxTree: z.ZodType<ExpressionNode> = z.record(z.string(), z.custom<Json>());
const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.custom<Json>().optional() }),
  z.object({ ok: z.literal(false), message: z.string(), position: z.number().nullable() }),
]);

function checkLength(expression: string): void {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw new ExpressionError(`The expression has more than ${MAX_EXPRESSION_LENGTH} characters.`);
  }
}

function explain(message: string): string {
  if (message === "out of memory") return `The expression needs more than ${MEMORY_MIB} MiB of memory.`;
  if (message === "Maximum call stack size exceeded") return "The expression is nested too deeply.";
  return message;
}

async function callSandbox({
  maxDepth,
  memory,
  ...evaluation
}: Evaluation & { maxDepth?: number; memory?: StepMemory | undefined }): Promise<Json | undefined> {
  const answered = await sandbox(evaluation);
  if ("issue" in answered) throw new ExpressionError(answered.issue);
  const { text } = answered;
  // The answer itself is one level.
  if (maxDepth !== undefined && isDeeper(text, maxDepth + 1)) {
    throw new ExpressionError(`The expression's result is nested deeper than ${maxDepth} levels.`);
  }
  await memory?.holdText(text);
  const answer = response.parse(await readLargeJson(text));
  if (answer.ok) return answer.value;
  const position = answer.position === null ? "" : ` (at character ${answer.position})`;
  throw new ExpressionError(`${explain(answer.message)}${position}`);
}

/** Parses a JSONata expression in the sandbox. Throws ExpressionError. */
export async function parseExpression(expression: string, organizationId: string): Promise<ExpressionNode> {
  checkLength(expression);
  const request = JSON.stringify({ expression, parse: true });
  const timeoutMs = EXPRESSION_TIMEOUT_MS;
  return syntaxTree.parse(await callSandbox({ request, timeoutMs, now: new Date(0), organizationId }));
}

/**
 * Evaluates a tenant's JSONata expression. A plain reference such as `input.a.b` is looked up; others run in the
 * sandbox: deterministic, stopped after `timeoutMs`, with numbers that a double cannot hold as texts. Returns
 * undefined if JSONata finds nothing. Throws ExpressionError.
 */
export async function evaluateExpression(
  expression: string,
  input: Json,
  facts: ExpressionFacts,
): Promise<Json | undefined> {
  facts.signal?.throwIfAborted();
  checkLength(expression);
  const found = evaluateReference(expression, input);
  if (found !== null) return found.value;
  const { now, seed, organizationId, signal, memory, note, timeoutMs = EXPRESSION_TIMEOUT_MS } = facts;
  const exact = await stringifyLarge({ expression, input, seed });
  const request = quoteExact(exact);
  if (request !== exact) note?.(NUMBERS_AS_TEXTS);
  const shared = { organizationId, signal, memory };
  return callSandbox({ request, timeoutMs, now, ...shared, maxDepth: MAX_JSON_DEPTH });
}
