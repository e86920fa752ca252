import { causesOf } from "@/server/base/errors";
import { EgressError, RefusedError, ResponseTooLarge, retryAfterMs } from "@/server/guard/egress/failures";
import { createRedactor, type Redact } from "@/server/guard/secrets/redact";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { ModelFault } from "@/server/work/models/port";
import { FlawedAnswer } from "./answer-flaws";
import { ReplyError, ReplyTooLarge, ResponseError } from "./replies";

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
  // A part of a secret is not recognized, so a message is cut last.
  const clean = (message: string) =>
    replaceNul(redact(redactKey(message)))
      .replace(KEY_LIKE, "[redacted]")
      .slice(0, MAX_MESSAGE_LENGTH);

  const fault = (text: string, reason: ModelFault, waitMs?: number): Fault => {
    const message = clean(`the model provider "${name}" ${text}`);
    return { message, reason, retryAfterMs: waitMs, cause: error };
  };

  if (error instanceof FlawedAnswer) return fault(error.message, error.flaw);
  if (error instanceof ResponseError) {
    // The message begins with the status.
    const text = `answered ${error.message}${redirection(error)}`;
    const reason = isTooLong(error) ? "input_too_long" : reasonOf(error.status, error.code);
    return fault(text, reason, retryAfterMs(error.headers, now));
  }
  if (error instanceof ReplyError) {
    const reason = error instanceof ReplyTooLarge ? "refused" : reasonOf(error.status, error.code);
    return fault(`answered: ${error.message}`, reason);
  }
  // The client may wrap an error.
  const causes = causesOf(error);
  const excess = causes.find((cause) => cause instanceof ResponseTooLarge);
  if (excess !== undefined) return fault(`answered: ${excess.message}`, "refused");
  // Our own explanation if there is one, else the innermost message.
  const shown =
    causes.find((cause) => cause instanceof EgressError) ?? causes.findLast(({ message }) => message !== "");
  const reason = causes.some((cause) => cause instanceof RefusedError) ? "refused" : "unavailable";
  return fault(`could not be reached: ${shown?.message ?? "unknown error"}`, reason);
}

/** The meaning of a refusal, from its status and, if a status has several meanings, OpenAI's code. */
function reasonOf(status: number | undefined, code: string | null | undefined): ModelFault {
  if (code === "insufficient_quota" || status === 402) return "quota";
  if (code === "context_length_exceeded" || status === 413) return "input_too_long";
  if (code === "model_not_found" || status === 404) return "unknown";
  if (code === "content_filter" || code === "content_policy_violation") return "declined";
  if (code === "invalid_api_key" || status === 401 || status === 403) return "unauthorized";
  // OpenAI's API reference, the error of a response.
  if (code === "invalid_prompt" || code === "bio_policy") return "declined";
  // Groq's documentation: the model's call could not be parsed; a repeat works (pydantic/pydantic-ai#4354).
  if (code === "tool_use_failed") return "unavailable";
  return status === undefined || PASSING.has(status) || status >= 500 ? "unavailable" : "refused";
}

/** Anthropic has no code for it (stackblitz-labs/bolt.diy#401). */
const isTooLong = ({ status, message }: ResponseError): boolean =>
  status === 400 && /prompt is too long/i.test(message);

/** Redirects are not followed, because the key would be sent to their target. */
function redirection(error: ResponseError): string {
  const location = error.headers.get("location");
  if (error.status >= 400 || !location) return "";
  return `: it redirects to ${location}; configure that address instead`;
}
