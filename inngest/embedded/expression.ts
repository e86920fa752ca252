import { Environment } from "@marcbachmann/cel-js";

/** What an expression may speak of: the run's `event`, and `async`, the event that came later. */
export type ExpressionContext = { event: unknown; async?: unknown };

const environment = new Environment({ homogeneousAggregateLiterals: false })
  .registerVariable("event", "dyn")
  .registerVariable("async", "dyn");

const MOST_COMPILED = 1_000;
const compiled = new Map<string, (context: ExpressionContext) => unknown>();

/**
 * Compiles a CEL expression of a function's configuration, once per text.
 * @throws Error naming the expression when it does not parse or speaks of anything but `event` and `async`.
 */
export function compileExpression(source: string): (context: ExpressionContext) => unknown {
  const known = compiled.get(source);
  if (known) return known;
  let evaluate: ReturnType<typeof environment.parse>;
  try {
    evaluate = environment.parse(source);
  } catch (cause) {
    throw new Error(`The expression ${JSON.stringify(source)} does not parse.`, { cause });
  }
  const { valid, error } = evaluate.check();
  if (!valid) throw new Error(`The expression ${JSON.stringify(source)} is invalid: ${error?.message}`);
  // Conditions may carry data ("async.data.id == '42'"): without a bound they would pile up.
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(source, evaluate);
  return evaluate;
}

/**
 * Whether a condition holds. Anything but `true` is no: a field that is missing makes CEL fail, and a condition that
 * cannot be decided must not start, wake or cancel a run.
 */
export function holds(source: string | null | undefined, context: ExpressionContext): boolean {
  if (source === null || source === undefined) return true;
  try {
    return compileExpression(source)(context) === true;
  } catch {
    return false;
  }
}

/** The value of a concurrency key as text; runs whose key cannot be computed share the key `null`. */
export function evaluateKey(source: string, context: ExpressionContext): string {
  try {
    return String(compileExpression(source)(context));
  } catch {
    return "null";
  }
}
