import { causesOf } from "@/server/base/errors";
import { EgressError, retryAfterMs } from "@/server/guard/egress/failures";
import { createRedactor, type Redact } from "@/server/guard/secrets/redact";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import { isOverflow } from "@/server/work/models/errors/overflow";
import type { ModelErrorReason } from "@/server/work/models/port";
import { FlawedAnswer } from "./answer-flaws";
import { AnswerTimeout, isFailedGeneration, ReplyError, ResponseError } from "./replies";

/**
 * The failure of one attempt; `unavailable` is temporary. `isFinal`: another attempt would only cost as much again.
 * `retryAfterMs` is the delay that the provider requested.
 */
export type ProviderError = {
  message: string;
  reason: ModelErrorReason;
  fallsBack: boolean;
  isFinal: boolean;
  retryAfterMs: number | undefined;
  cause: unknown;
};

// 498: Groq's documentation of flex processing.
const PASSING = new Set([408, 409, 425, 429, 498]);
// The codes and types of an account without credit: OpenAI's, Kimi's and MiniMax's (modelscope/modelscope#1691).
const USED_UP = new Set(["insufficient_quota", "exceeded_current_quota_error", "insufficient_balance_error"]);
// Those without such a code: MiniMax with status 500 (MiniMax-AI/MiniMax-M2#62), Anthropic with 400, xAI with 403 or 429.
const USED_UP_TEXT =
  /insufficient (account )?balance|credit balance is too low|used all available credits|out of credits|have any credits|spending limit/i;
// Those of filtered requests: OpenAI's API reference (errors of responses, too), Kimi
// (MoonshotAI/kimi-cli#1002), Qwen, Z.ai (langchain4j/langchain4j#1079).
const FILTERED = new Set([
  ...["content_filter", "content_policy_violation", "invalid_prompt", "bio_policy"],
  ...["data_inspection_failed", "DataInspectionFailed", "1301"],
  // new-api
  "sensitive_words_detected",
]);
// Those without a code of their own: DeepSeek (deepseek-ai/awesome-deepseek-integration#13), xAI with status 403,
// Anthropic (anthropics/claude-code#58367), LiteLLM (BerriAI/litellm#16231).
const FILTERED_TEXT =
  /content exists risk|violates usage guidelines|output blocked by content filtering policy|ContentPolicyViolationError/i;
const MAX_MESSAGE_LENGTH = 500;
// Providers repeat keys in messages, complete or masked.
const KEY_LIKE = /\b(sk|pk|rk|key|gsk|xai)-[\w*.-]{6,}|Bearer\s+\S+/gi;

/** Describes why an attempt at the named provider failed, without its key and what `redact` removes. */
export function readProviderError(
  error: unknown,
  provider: { name: string; apiKey: string | undefined; redact?: Redact | undefined },
  now: Date,
): ProviderError {
  const { name, apiKey, redact = (text) => text } = provider;
  const { redact: redactKey } = createRedactor(
    apiKey === undefined ? [] : [{ value: apiKey, mark: "[redacted]" }],
  );
  const clean = (text: string) => replaceNul(redact(redactKey(text)));
  // A provider's name may begin like a key.
  const prefix = clean(`the model provider "${name}" `);

  const explain = (
    text: string,
    reason: ModelErrorReason,
    { status, waitMs }: { status?: number | undefined; waitMs?: number | undefined } = {},
  ): ProviderError => {
    // A part of a secret is not recognized, so a message is cut last.
    const message = (prefix + clean(text).replace(KEY_LIKE, "[redacted]")).slice(0, MAX_MESSAGE_LENGTH);
    const isLimit = reason === "unavailable" || (reason === "input_too_long" && status === 429);
    const fallsBack = reason === "unknown" || (isLimit && !isOtherRejection(status));
    const isFinal = reason !== "unavailable" || (error instanceof AnswerTimeout && error.limit === "attempt");
    return { message, reason, fallsBack, isFinal, retryAfterMs: waitMs, cause: error };
  };

  if (error instanceof FlawedAnswer)
    return explain(error.message, error.flaw === "window" ? "truncated" : error.flaw);
  if (error instanceof ResponseError) {
    // The message begins with the status.
    const text = `answered ${error.message}${redirection(error)}`;
    const { status, headers } = error;
    return explain(text, reasonOf(error), { status, waitMs: retryAfterMs(headers, now) });
  }
  if (error instanceof ReplyError) {
    const reason = error.kind === "too_large" ? "rejected" : reasonOf(error);
    const { status, headers } = error;
    return explain(`answered: ${error.message}`, reason, { status, waitMs: retryAfterMs(headers, now) });
  }
  if (error instanceof AnswerTimeout) return explain(error.message, "unavailable");
  // The client may wrap an error.
  const causes = causesOf(error);
  const own = causes.find((cause) => cause instanceof EgressError);
  if (own?.kind === "too_large") return explain(`answered: ${own.message}`, "rejected");
  // Our own explanation if there is one, else the innermost message.
  const shown = own ?? causes.findLast(({ message }) => message !== "");
  const reason = own?.kind === "rejected" ? "rejected" : "unavailable";
  return explain(`could not be reached: ${shown?.message ?? "unknown error"}`, reason);
}

const isOtherRejection = (status = 500): boolean => status < 500 && status !== 408 && status !== 429;

function reasonOf(error: ResponseError | ReplyError): ModelErrorReason {
  const { status, code, message } = error;
  // Its message shows what the model wrote, with any words.
  if (isFailedGeneration(error)) return "unavailable";
  if (USED_UP.has(code ?? "") || status === 402 || USED_UP_TEXT.test(message)) return "quota";
  if (isOverflow(error)) return "input_too_long";
  if (code === "model_not_found" || status === 404) return "unknown";
  if (FILTERED.has(code ?? "") || FILTERED_TEXT.test(message)) return "declined";
  if (code === "invalid_api_key" || status === 401 || status === 403) return "unauthorized";
  if ((status === 400 || status === 422) && UNKNOWN_MODEL.test(message)) return "unknown";
  return status === undefined || PASSING.has(status) || status >= 500 ? "unavailable" : "rejected";
}

// Servers without a code: OpenRouter (continuedev/continue#10322), LiteLLM (BerriAI/litellm#3142) and
// Mistral, DeepSeek, Bedrock (iOfficeAI/AionCore#377), vLLM.
const UNKNOWN_MODEL =
  /is not a valid model id|invalid model\b|model not exist|model identifier is invalid|model [`'"]?[\w./:@-]+[`'"]? (?:does not exist|(?:is |was )?not found)/i;

// Redirects are not followed, because the key would be sent to their target.
function redirection(error: ResponseError): string {
  const location = error.headers.get("location");
  if (error.status >= 400 || !location) return "";
  return `: it redirects to ${location}; configure that address instead`;
}
