import { isJsonObject, writeJson } from "@/server/base/json/json";
import type { ModelReply, ModelUsage } from "@/server/work/models/port";
import { readErrorText, readReported } from "./error-bodies";

/**
 * A parsed reply. `refusal`: the words of a model that declines to answer. `usage`: null if the provider reports
 * none; it is then counted. `usageText`: the reported usage as JSON. `nativeReason`: the finish reason that a gateway
 * got, if it says so beside its own.
 */
export type ReadReply = Pick<ModelReply, "content" | "reasoning" | "state" | "toolCalls" | "finishReason"> & {
  refusal: string;
  usage: ModelUsage | null;
  usageText?: string | undefined;
  nativeReason?: string;
};

/** An error as a provider states it, beside its message. `headers` are those of limits. */
type Stated = {
  code?: string | null | undefined;
  param?: string | null | undefined;
  headers?: Headers | undefined;
};

/** A response with an error status. The message begins with the status. */
export class ResponseError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly headers: Headers;

  constructor(message: string, options: Stated & { status: number; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "ResponseError";
    this.status = options.status;
    this.code = options.code ?? undefined;
    this.param = options.param ?? undefined;
    this.headers = options.headers ?? new Headers();
  }
}

/**
 * A response that is no reply. If it is an error in a successful response, it has what it states. `kind`: it is beyond
 * the size limit (a retry would not make it smaller), or its pieces form no reply (the same server may well
 * give one without streaming).
 */
export class ReplyError extends Error {
  override name = "ReplyError";
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly headers: Headers;
  readonly kind: "too_large" | "broken_pieces" | undefined;

  constructor(
    message: string,
    options: Stated & { status?: number | undefined; kind?: ReplyError["kind"] } = {},
  ) {
    super(message);
    this.status = options.status;
    this.code = options.code ?? undefined;
    this.param = options.param ?? undefined;
    this.headers = options.headers ?? new Headers();
    this.kind = options.kind;
  }
}

/** An attempt whose server sent nothing for `ms`, or whose answer was not complete after them. */
export class AnswerTimeout extends Error {
  override name = "AnswerTimeout";
  readonly limit: "silence" | "attempt";

  constructor(ms: number, limit: AnswerTimeout["limit"]) {
    super(limit === "silence" ? `sent nothing for ${ms} ms` : `gave no complete answer within ${ms} ms`);
    this.limit = limit;
  }
}

/** A reply beyond the size limit; `part` is longer than `maxLength` characters. */
export const replyTooLarge = (part: string, maxLength: number) =>
  new ReplyError(`${part} is longer than ${maxLength} characters.`, { kind: "too_large" });

const MAX_STATED_LENGTH = 4_000;

/** The beginning of an error's message: what an error states is searched only there, because it may be very long. */
export const statedText = ({ message }: ResponseError | ReplyError): string =>
  message.slice(0, MAX_STATED_LENGTH);

export const brokenPieces = (message: string) => new ReplyError(message, { kind: "broken_pieces" });

/**
 * The error in a streamed piece or in a body with a success status, as some gateways send it; null if there is
 * none.
 */
export function readReportedError(piece: unknown): ReplyError | null {
  if (typeof piece !== "object" || piece === null) return null;
  const isError =
    Array.isArray(piece) ||
    ("error" in piece && piece.error) ||
    ("object" in piece && piece.object === "error") ||
    // OpenAI's API reference, streaming events of responses, error.
    ("type" in piece && piece.type === "error") ||
    ("base_resp" in piece && isMiniMaxError(piece.base_resp));
  if (!isError) return null;
  const reported = readReported(piece);
  if (reported === null) return new ReplyError(`an error: ${writeJson(piece)}`);
  const ofMiniMax = "base_resp" in piece ? statedByMiniMax(piece.base_resp) : undefined;
  return new ReplyError(reported.message, { ...reported, ...ofMiniMax });
}

const isMiniMaxError = (report: unknown): boolean =>
  isJsonObject(report) && typeof report.status_code === "number" && report.status_code !== 0;

// MiniMax's documentation of error codes; others are temporary.
const STATED_BY_MINIMAX: Readonly<Record<string, { status: number } | { code: string }>> = {
  1002: { status: 429 },
  1004: { status: 401 },
  1008: { status: 402 },
  1026: { code: "content_filter" },
  1027: { code: "content_filter" },
  1039: { status: 400 },
  2013: { status: 400 },
  2049: { status: 401 },
};

const statedByMiniMax = (report: unknown) =>
  isJsonObject(report) ? STATED_BY_MINIMAX[String(report.status_code)] : undefined;

/** The error of an answer that its provider broke off, as OpenRouter reports it beside or within the choice. */
export const failedChoice = (choice: object): ReplyError =>
  readReportedError(choice) ?? new ReplyError("the answer broke off with an error");

/** The error for a body that is no reply. @param kind what it should have been. */
export function unreadable(body: unknown, kind: string): ReplyError {
  const error = readReportedError(body);
  if (error !== null) return error;
  const said = typeof body === "string" ? readErrorText(body) : readReported(body);
  return new ReplyError(`the answer is not ${kind}${said === null ? "" : `: ${said.message}`}`);
}

/**
 * Returns true if the server could not read the call or the JSON that the model wrote, so that a repeat works. These are
 * Groq's codes (pydantic/pydantic-ai#4354, drnic/groq-ruby#12). LiteLLM has Groq's error in its message.
 */
export const isFailedGeneration = ({ code, message }: ResponseError | ReplyError): boolean =>
  code === "tool_use_failed" || code === "json_validate_failed" || IN_MESSAGE.test(message);

const IN_MESSAGE = /"code":\s?"(?:tool_use|json_validate)_failed"/;
