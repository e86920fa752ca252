import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { type Context, createContext, Script } from "node:vm";
import { z } from "zod";
import { REALM_SCRIPT } from "@/server/expressions/realm-script";
import type { Json } from "@/server/json";
import { isTimeout } from "@/server/time-box";

/**
 * JSONata for expressions that strangers wrote. It runs in a JavaScript realm of its own whose microtasks are drained
 * inside the call, so an evaluation is synchronous, deterministic (moment and chance are given) and stopped for good
 * when its time is up, whatever it does: endless recursion, a catastrophic regular expression, a huge structure.
 * Only JSON texts cross the border.
 */

/** What an expression may know of moment and chance; the same facts give the same result. */
export type ExpressionFacts = {
  /** What `$now()` and `$millis()` tell. */
  now: Date;
  /** Seeds `$random()` and `$shuffle()`. */
  seed: string;
};

/** A fault in an expression or in its evaluation; the message is meant for its author. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** A node of JSONata's syntax tree, as far as it is read here. */
export type ExpressionNode = { [key: string]: Json };

/** Longest expression, in characters. */
export const MAX_EXPRESSION_LENGTH = 32 * 1024;
const DEFAULT_TIMEOUT_MS = 1000;

const response = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.custom<Json>().optional() }),
  z.object({ ok: z.literal(false), message: z.string(), position: z.number().nullable() }),
]);

const handle = new Script("$handle()", { filename: "expression" });
let realmScript: Script | undefined;
let realm: Context | undefined;

/** JSONata's source as text: its module object must be born inside the realm. */
function jsonataSource(): string {
  const bases = [import.meta.url, path.join(process.cwd(), "package.json")];
  let failure: unknown;
  for (const base of bases) {
    try {
      return readFileSync(createRequire(base).resolve("jsonata/jsonata.min.js"), "utf8");
    } catch (error) {
      failure = error;
    }
  }
  throw new Error("The package jsonata is not installed.", { cause: failure });
}

function openRealm(): Context {
  realmScript ??= new Script(
    `const module = { exports: {} }, exports = module.exports;\n${jsonataSource()}\n${REALM_SCRIPT}`,
    { filename: "expression-realm" },
  );
  const context = createContext(Object.create(null), {
    microtaskMode: "afterEvaluate",
    codeGeneration: { strings: false, wasm: false },
  });
  realmScript.runInContext(context);
  return context;
}

function ask(request: Record<string, Json>, timeoutMs: number): Json | undefined {
  realm ??= openRealm();
  realm.$request = JSON.stringify(request);
  try {
    handle.runInContext(realm, { timeout: timeoutMs });
  } catch (error) {
    // An interrupted realm may be left in the middle of anything.
    realm = undefined;
    if (isTimeout(error)) {
      throw new ExpressionError(`The expression was stopped after ${timeoutMs} ms.`);
    }
    throw new ExpressionError("The expression could not be evaluated.", { cause: error });
  }
  const text: unknown = realm.$response;
  realm.$response = undefined;
  if (typeof text !== "string") throw new ExpressionError("The expression never comes to an end.");
  const answer = response.parse(JSON.parse(text));
  if (answer.ok) return answer.value;
  const place = answer.position === null ? "" : ` (at character ${answer.position})`;
  throw new ExpressionError(`${answer.message}${place}`);
}

function checkLength(expression: string): void {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw new ExpressionError(`The expression has more than ${MAX_EXPRESSION_LENGTH} characters.`);
  }
}

const syntaxTree: z.ZodType<ExpressionNode> = z.record(z.string(), z.custom<Json>());

/** Parses a JSONata expression. Throws ExpressionError. */
export function parseExpression(expression: string): ExpressionNode {
  checkLength(expression);
  return syntaxTree.parse(ask({ expression, parse: true }, DEFAULT_TIMEOUT_MS));
}

/**
 * Evaluates a JSONata expression over the JSON text `input`. Gives undefined where JSONata finds nothing.
 * Throws ExpressionError on faults and when `timeoutMs` (1,000 by default) is over.
 */
export function evaluateExpression(
  expression: string,
  input: string,
  facts: ExpressionFacts,
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Json | undefined {
  checkLength(expression);
  return ask({ expression, input, now: facts.now.getTime(), seed: facts.seed }, timeoutMs);
}
