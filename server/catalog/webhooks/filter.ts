import { AppError } from "@/server/base/errors";
import type { Json } from "@/server/base/json/json";
import { ExpressionError, type ExpressionFacts } from "@/server/work/expressions/jsonata";
import { evaluateIn, parseCondition } from "@/server/work/workflow/expressions";

/** A trigger's filter is one JSONata expression over `body`, the received JSON. */

// Includes the wait for the thread.
const FILTER_TIMEOUT_MS = 10_000;
const EXPRESSION_TIMEOUT_MS = 2_000;

/** The issue of a filter, or null; checked when it is saved. */
export async function describeFilterIssue(filter: string, organizationId: string): Promise<string | null> {
  try {
    const parsed = await parseCondition(filter, organizationId);
    const refersToSecret = parsed.references.some(({ root }) => root === "secrets");
    return refersToSecret ? "secrets cannot be used in a filter" : parsed.issue;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/**
 * Returns true if the filter lets a body pass. Nothing found counts as false. Throws `trigger_misconfigured` if the
 * expression fails, takes over 2 s, or gives anything but true or false.
 */
export async function passesFilter(filter: string, body: Json, facts: ExpressionFacts): Promise<boolean> {
  const signal = facts.signal ?? AbortSignal.timeout(FILTER_TIMEOUT_MS);
  let value: Json | undefined;
  try {
    const parsed = await parseCondition(filter, facts.organizationId);
    const bounds = { signal, timeoutMs: EXPRESSION_TIMEOUT_MS };
    value = await evaluateIn({ values: { body }, steps: {} }, parsed, { ...facts, ...bounds });
  } catch (cause) {
    if (!signal.aborted && !(cause instanceof ExpressionError)) throw cause;
    throw filterFails(cause instanceof ExpressionError ? cause.message : "it takes too long.", cause);
  }
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw filterFails("it must give true or false.");
}

function filterFails(reason: string, cause?: unknown): AppError {
  return new AppError("trigger_misconfigured", `The trigger's filter fails: ${reason}`, { cause });
}
