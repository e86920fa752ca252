import { AppError } from "@/server/base/errors";
import { type Json, writeJson } from "@/server/base/json/json";
import { ExpressionError, type ExpressionFacts } from "@/server/work/expressions/jsonata";
import { fillIn, parseTemplate } from "@/server/work/workflow/expressions";

/** A template's `{{ }}` contain JSONata over `body`, the received JSON. Lists and objects are inserted as JSON. */

// Includes the wait for the thread.
const TEMPLATE_TIMEOUT_MS = 10_000;
// For one expression: senders of other organizations may wait for the thread.
const EXPRESSION_TIMEOUT_MS = 2_000;

/** The issue of a template, or null; checked when it is saved. */
export async function describeTemplateIssue(
  template: string,
  organizationId: string,
): Promise<string | null> {
  try {
    const { parts } = await parseTemplate(template, organizationId);
    const refersToSecret = parts.some(
      (part) => typeof part === "object" && part.references.some(({ root }) => root === "secrets"),
    );
    if (refersToSecret) return "secrets cannot be used in a message";
    return parts.map((part) => (typeof part === "object" ? part.issue : null)).find(Boolean) ?? null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/**
 * The user message for a body without U+0000. Throws `trigger_misconfigured` if an expression fails or takes over 2
 * s, or all of them over 10 s, and `invalid_request` if the message is empty.
 */
export async function fillMessageTemplate(
  template: string,
  body: Json,
  facts: ExpressionFacts,
): Promise<string> {
  const signal = facts.signal ?? AbortSignal.timeout(TEMPLATE_TIMEOUT_MS);
  let filled: Json;
  try {
    const bounds = { signal, timeoutMs: EXPRESSION_TIMEOUT_MS };
    filled = await fillIn(template, { values: { body }, steps: {} }, { ...facts, ...bounds });
  } catch (cause) {
    if (!signal.aborted && !(cause instanceof ExpressionError)) throw cause;
    const reason = cause instanceof ExpressionError ? cause.message : "it takes too long.";
    throw new AppError("trigger_misconfigured", `The trigger's message template fails: ${reason}`, { cause });
  }
  const message = filled === null ? "" : typeof filled === "string" ? filled : writeJson(filled);
  if (message.trim() === "") {
    throw new AppError("invalid_request", "The message template matched nothing in the body.");
  }
  return message;
}
