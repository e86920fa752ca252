import { APIError } from "openai";
import { EgressError, RefusedError, ResponseTooLarge } from "@/server/egress/failures";
import { ReplyError, ReplyTooLarge } from "@/server/models/openai/chat-completion";
import type { ModelFault } from "@/server/models/port";
import { createRedactor, type Redact } from "@/server/secrets/redact";
import { replaceNul } from "@/server/secrets/stored-output";

/** Why one attempt failed; `unavailable` is temporary. `retryAfterMs` is the delay that the provider requested. */
export type Fault = {
  message: string;
  reason: ModelFault;
  retryAfterMs: number | undefined;
  cause: unknown;
};

const PASSING = new Set([408, 409, 425, 429]);
const MAX_MESSAGE_LENGTH = 500;
/** Keys that providers repeat in messages, complete or masked. */
const KEY_LIKE = /\b(sk|pk|rk|key|gsk|xai)-[\w*.-]{6,}|Bearer\s+\S+/gi;

/** Describes why an attempt at the named provider failed, without its key and what `redact` removes. */
export function readFault(
  error: unknown,
  provider: { name: string; apiKey: string | undefined; redact?: Redact | undefined },
  now: Date,
): Fault {
  const { name, apiKey, redact = (text) => text } = provider;
  const redactKey = createRedactor(apiKey === undefined ? [] : [{ value: apiKey, mark: "[redacted]" }]);
  // A part of a secret is not recognised, so a message is cut last.
  const clean = (message: string) =>
    replaceNul(redact(redactKey(message)))
      .replace(KEY_LIKE, "[redacted]")
      .slice(0, MAX_MESSAGE_LENGTH);

  if (error instanceof APIError && error.status !== undefined) {
    // The message begins with the status.
    const message = clean(`the model provider "${name}" answered ${error.message}${redirection(error)}`);
    const reason = reasonOf(error.status, error.code);
    return { message, reason, retryAfterMs: retryAfterMs(error.headers, now), cause: error };
  }
  if (error instanceof ReplyError) {
    const message = clean(`the model provider "${name}" answered: ${error.message}`);
    const reason = error instanceof ReplyTooLarge ? "refused" : reasonOf(error.status, error.code);
    return { message, reason, retryAfterMs: undefined, cause: error };
  }
  const excess = findCause(error, (cause) => cause instanceof ResponseTooLarge);
  if (excess !== null) {
    const message = clean(`the model provider "${name}" answered: ${excess.message}`);
    return { message, reason: "refused", retryAfterMs: undefined, cause: error };
  }
  const message = clean(`the model provider "${name}" could not be reached: ${innermostMessage(error)}`);
  const isRefused = findCause(error, (cause) => cause instanceof RefusedError) !== null;
  return { message, reason: isRefused ? "refused" : "unavailable", retryAfterMs: undefined, cause: error };
}

/** The meaning of a refusal, from its status and, if a status has several meanings, OpenAI's code. */
function reasonOf(status: number | undefined, code: string | null | undefined): ModelFault {
  if (code === "insufficient_quota" || status === 402) return "quota";
  if (code === "context_length_exceeded" || status === 413) return "input_too_long";
  if (code === "model_not_found" || status === 404) return "unknown";
  if (code === "invalid_api_key" || status === 401 || status === 403) return "unauthorized";
  return status === undefined || PASSING.has(status) || status >= 500 ? "unavailable" : "refused";
}

/** Redirects are not followed, because the key would be sent to their target. */
function redirection(error: APIError): string {
  const location = error.headers?.get("location");
  if (error.status === undefined || error.status >= 400 || !location) return "";
  return `: it redirects to ${location}; configure that address instead`;
}

/** The delay that a provider requests, in milliseconds (RFC 9110, section 10.2.3, and `retry-after-ms`). */
function retryAfterMs(headers: Headers | undefined, now: Date): number | undefined {
  const exact = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const text = headers?.get("retry-after");
  if (text === null || text === undefined || text.trim() === "") return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

/** The first cause that matches; the SDK may wrap it. */
function findCause(error: unknown, matches: (cause: Error) => boolean): Error | null {
  let inner = error;
  for (let i = 0; i < 5 && inner instanceof Error; i += 1) {
    if (matches(inner)) return inner;
    inner = inner.cause;
  }
  return null;
}

function innermostMessage(error: unknown): string {
  let inner = error;
  for (let i = 0; i < 5 && inner instanceof Error && inner.cause instanceof Error; i += 1) {
    if (inner instanceof EgressError || inner.cause.message === "") break;
    inner = inner.cause;
  }
  return inner instanceof Error ? inner.message : "unknown error";
}
