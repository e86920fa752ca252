import type { Issue } from "@/server/errors";
import type { FunctionContext, FunctionDefinition } from "@/server/functions/define";
import { findFunction, listFunctions } from "@/server/functions/registry";
import type { Json } from "@/server/json";
import { jsonPointer } from "@/server/json-text";
import { describeIssues } from "@/server/workflow/schema-issues";

/** The faults of a value as input of a function; empty: it is valid. */
export function checkFunctionInput(definition: FunctionDefinition, input: Json): Issue[] {
  const parsed = definition.input.safeParse(input);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => ({
    path: jsonPointer(issue.path.map((key) => (typeof key === "number" ? key : String(key)))),
    message: issue.message,
  }));
}

/**
 * Runs a function over unchecked input, for at most `timeoutMs` milliseconds (the function's own limit when unset).
 * Throws what the function throws, an Error that names the faults of the input, or the reason of the context's signal.
 */
export async function executeFunction(
  name: string,
  input: Json,
  context: FunctionContext,
  timeoutMs?: number,
): Promise<Json> {
  const definition = findFunction(name);
  if (definition === undefined) {
    const known = listFunctions().map((each) => each.name);
    throw new Error(`There is no function named "${name}". Known functions: ${known.join(", ")}.`);
  }
  const parsed = definition.input.safeParse(input);
  if (!parsed.success) {
    throw new Error(
      `The input of ${name} is invalid: ${describeIssues(checkFunctionInput(definition, input))}`,
    );
  }
  context.signal.throwIfAborted();
  const limit = timeoutMs ?? definition.timeoutMs;
  const timeout = new AbortController();
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const timer = setTimeout(() => timeout.abort(new Error(`${name} took longer than ${limit} ms.`)), limit);
  const callModel: FunctionContext["callModel"] = (request) => context.callModel(request, signal);
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    // A function that does not heed its signal is left behind rather than waited for.
    return await Promise.race([definition.run(parsed.data, { ...context, signal, callModel }), aborted]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}
