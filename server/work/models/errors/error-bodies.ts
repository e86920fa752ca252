import { isJsonObject, tryParseJson, writeJson } from "@/server/base/json/json";
import { readChunks } from "@/server/guard/egress/trusted-fetch";

/** The report in the body of an error; `code` may be a word or a status. */
export type ReportedError = {
  message: string;
  code: string | number | undefined;
  param: string | undefined;
  type: string | undefined;
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
 * none.
 */
export function readReported(body: unknown): ReportedError | null {
  const message = messageIn(body, 0);
  if (message === "") return null;
  const place = placeOf(body);
  const { code, param, type, metadata } = place;
  // OpenRouter's documentation of errors: moderation has no code of its own.
  const isFlagged = isRecord(metadata) && metadata.flagged_input !== undefined;
  return {
    message,
    code: isFlagged ? "content_filter" : statesCode(code) ? code : undefined,
    param: typeof param === "string" ? param : undefined,
    type: typeof type === "string" ? type : undefined,
  };
}

// Cerebras sends "" in streams; zero states nothing either.
const statesCode = (code: unknown): code is string | number =>
  (typeof code === "string" || typeof code === "number") && Number(code) !== 0;

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
export function readErrorText(text: string): ReportedError | null {
  const parsed = tryParseJson(text);
  const reported = readReported(parsed === undefined ? plainText(text) : parsed);
  if (reported !== null || parsed === undefined || text.trim() === "") return reported;
  return { message: text.trim(), code: undefined, param: undefined, type: undefined };
}

// The wait that Gemini asks for in the body alone (vercel/ai#18627).
const RETRY_DELAY = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;

function plainText(text: string): string {
  if (!/^\s*</.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return title || text.replaceAll(/<[^<>]*>/g, " ").replaceAll(/\s+/g, " ");
}

/**
 * An error response in the one shape that the SDK reads, so that the provider's message is known for every other shape,
 * too. Its code is always a word. Other responses are returned as they are.
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
  const reported = readErrorText(text);
  const code = typeof reported?.code === "string" ? reported.code : (reported?.type ?? null);
  const body = reported && writeJson({ error: { ...reported, code } });
  const headers = new Headers(response.headers);
  const [, seconds] = RETRY_DELAY.exec(text) ?? [];
  if (seconds !== undefined && !headers.has("retry-after") && !headers.has("retry-after-ms"))
    headers.set("retry-after-ms", String(Math.ceil(Number(seconds) * 1000)));
  return new Response(body, { status: response.status, headers });
}
