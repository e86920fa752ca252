import { isJsonObject, memberOf, tryParseJson, writeJson } from "@/server/base/json/json";
import { readChunks } from "@/server/guard/egress/trusted-fetch";
import { readDuration } from "./durations";

/**
 * The report in the body of an error. `code`: the provider's word or own number, else its type. `headers`: the limits
 * that it states, as headers would.
 */
export type ReportedError = {
  message: string;
  status: number | undefined;
  code: string | undefined;
  param: string | undefined;
  headers: Headers;
};

const MAX_ERROR_BODY_BYTES = 64 * 1024;
// Left out at the end of a body that was cut: half a secret would not be recognized.
const CUT_END = 8 * 1024;
const MAX_DEPTH = 4;
const MAX_PARTS = 8;

const MESSAGE_KEYS = [
  ...["message", "error", "detail", "errors", "msg", "title", "error_description"],
  // MiniMax, in responses with status 200.
  ...["base_resp", "status_msg"],
];

/**
 * The message in an error's JSON: `{"error": {"message"}}` (OpenAI), the same in an array (Gemini,
 * coreply/coreply#18), `{"error": "…"}` (Ollama), `{"detail": [{"loc", "msg"}]}` (FastAPI;
 * appstrate/appstrate#138), `{"object": "error", "message"}` (vLLM), `{"errors": […]}` (Cloudflare). Null if it has
 * none. @param responseStatus An error's status, unless the response has another one.
 */
export function readReported(body: unknown, responseStatus?: number): ReportedError | null {
  const message = messageIn(body, 0);
  if (message === "") return null;
  const place = placeOf(body);
  const { code, param, type, metadata } = place;
  // OpenRouter's documentation of errors: moderation has no code of its own.
  const isFlagged = memberOf(metadata, "flagged_input") !== undefined;
  const words = [code, type].filter((word) => typeof word === "string");
  const word = isFlagged ? "content_filter" : words.find((each) => statesCode(each) && !isStatus(each));
  const named = words.map((each) => STATUS_OF_WORD.get(each)).find((each) => each !== undefined);
  const status = responseStatus ?? (isStatus(code) ? Number(code) : named);
  return {
    message,
    status,
    code: word,
    param: typeof param === "string" ? param : undefined,
    headers: statedHeaders(place, { message, isLimit: status !== undefined && LIMITED.has(status) }),
  };
}

// Cerebras sends "" in streams; zero states nothing either.
const statesCode = (code: string): boolean => Number(code) !== 0;

// Other numbers are the provider's own codes, such as Z.ai's 1302.
function isStatus(code: unknown): boolean {
  const number = typeof code === "string" || typeof code === "number" ? Number(code) : 0;
  return Number.isInteger(number) && number >= 400 && number <= 599;
}

// For errors without a status: types of Anthropic's documentation of errors, some of which are OpenAI's, too, and
// OpenAI's codes (animalnots/BetterChatGPT-PLUS#62, thisisartium/continuous-alignment-testing#25).
const STATUS_OF_WORD: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["context_length_exceeded", 400],
  ["integer_above_max_value", 400],
  ["integer_below_min_value", 400],
  ["invalid_type", 400],
  ["invalid_value", 400],
  ["missing_required_parameter", 400],
  ["string_above_max_length", 400],
  ["unknown_parameter", 400],
  ["unsupported_parameter", 400],
  ["unsupported_value", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  // openai/codex#2266
  ["rate_limit_exceeded", 429],
  ["api_error", 500],
  ["overloaded_error", 529],
]);

// Other messages may contain what the model wrote.
const LIMITED = new Set([429, 503, 529]);
// OpenAI (openai/codex#88), Groq, Azure, Gemini.
const WAIT_IN_TEXT = /\b(?:try again|retry) (?:in|after) (\d[\d.hms]{0,20})(?: (sec|min|hour))?/i;
const LIMIT_HEADER = /^(?:retry-after|x-ratelimit-|anthropic-ratelimit-)[a-z-]{0,40}$/i;
const HEADER_VALUE = /^[ -~]{1,100}$/;

/** OpenRouter's headers of the provider behind it, and the wait that only the body states. */
function statedHeaders(
  { metadata, details }: Record<string, unknown>,
  { message, isLimit }: { message: string; isLimit: boolean },
): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(memberOf(metadata, "headers") ?? {}))
    if (LIMIT_HEADER.test(name) && HEADER_VALUE.test(String(value))) headers.set(name, String(value));
  if (hasWait(headers)) return headers;
  const [, figure = "", unit = ""] = (isLimit && WAIT_IN_TEXT.exec(message)) || [];
  // Gemini (vercel/ai#18627).
  const delays = Array.isArray(details) ? details.map((each: unknown) => memberOf(each, "retryDelay")) : [];
  const delay = delays.find((each) => typeof each === "string") ?? figure.replace(/\.$/, "") + unit.charAt(0);
  const ms = readDuration(delay);
  if (ms !== null) headers.set("retry-after-ms", String(Math.ceil(ms)));
  return headers;
}

const hasWait = (headers: Headers): boolean => headers.has("retry-after") || headers.has("retry-after-ms");

function placeOf(body: unknown): Record<string, unknown> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isRecord(first)) return {};
  return isRecord(first.error) ? first.error : first;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function messageIn(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) return "";
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value)) {
    const parts = value.slice(0, MAX_PARTS).map((each: unknown) => messageIn(each, depth + 1));
    return parts.filter((part) => part !== "").join("; ");
  }
  if (!isRecord(value)) return "";
  const found = MESSAGE_KEYS.map((key) => messageIn(value[key], depth + 1)).find((text) => text !== "") ?? "";
  const at = Array.isArray(value.loc) ? `${value.loc.slice(0, MAX_PARTS).join(".")}: ` : "";
  // OpenRouter wraps the message of the provider behind it; Groq shows the call that it could not parse.
  const raw = isRecord(value.metadata) ? value.metadata.raw : value.failed_generation;
  const more = typeof raw === "string" && raw !== "" ? `: ${messageIn(parsedOr(raw), depth + 1)}` : "";
  return found === "" ? "" : `${at}${found}${more}`;
}

function parsedOr(text: string): unknown {
  const parsed = tryParseJson(text);
  return isJsonObject(parsed) || Array.isArray(parsed) ? parsed : text;
}

/** The message in the text of an error's body: JSON of any shape, HTML, or plain text. */
export function readErrorText(text: string, responseStatus?: number): ReportedError | null {
  const parsed = tryParseJson(text);
  const reported = parsed === undefined ? null : readReported(parsed, responseStatus);
  return reported ?? readReported(parsed === undefined ? plainText(text) : text, responseStatus);
}

function plainText(text: string): string {
  if (!/^\s*</.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return title || text.replaceAll(/<[^<>]*>/g, " ").replaceAll(/\s+/g, " ");
}

/**
 * An error response in the one shape that the SDK reads, so that the provider's message is known for every other shape,
 * too. The limits that only its body states become headers. Other responses are returned as they are.
 */
export async function normalizeError(response: Response): Promise<Response> {
  if (response.status < 400) return response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  await readChunks(response, (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    return length <= MAX_ERROR_BODY_BYTES;
  });
  const bytes = Buffer.concat(chunks);
  const text = (
    length > MAX_ERROR_BODY_BYTES ? bytes.subarray(0, MAX_ERROR_BODY_BYTES - CUT_END) : bytes
  ).toString();
  const reported = readErrorText(text, response.status);
  const headers = new Headers(response.headers);
  if (!hasWait(headers))
    for (const [name, value] of reported?.headers ?? []) if (!headers.has(name)) headers.set(name, value);
  const body = reported && writeJson({ error: { ...reported, headers: undefined } });
  return new Response(body, { status: response.status, headers });
}
