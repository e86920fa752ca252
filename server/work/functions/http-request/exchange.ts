import type { Clock } from "@/server/base/clock";
import type { Json } from "@/server/base/json/json";
import { parseLargeJson } from "@/server/base/json/large";
import { takeTurn } from "@/server/base/scheduling/event-loop";
import { sleepOrThrow } from "@/server/base/sleep";
import { KIB } from "@/server/contract/sizes";
import { EgressError, retryAfterMs } from "@/server/guard/egress/failures";
import { readField } from "@/server/guard/egress/outgoing-request";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { asBase64, type RedactBody } from "./binary-body";
import { decodeBody, mediaTypeOf } from "./charset";

const LONG_BODY_BYTES = 64 * KIB;
/** Methods that may be sent again without doing something twice (RFC 9110, section 9.2.2). */
export const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const PASSING = new Set([429, 502, 503, 504]);
/** Doubles with each retry. */
const FIRST_WAIT_MS = 250;
// If a server asks for a longer wait, its response is the result.
const LONGEST_WAIT_MS = 20_000;

/**
 * Sends a request, and retries it up to `retries` times after network failures and temporary statuses. The last
 * response is the result, whatever its status. Throws what `send` throws, or the signal's reason.
 */
export async function sendWithRetries(
  send: () => Promise<Response>,
  { retries, clock, signal }: { retries: number; clock: Clock; signal: AbortSignal },
): Promise<Response> {
  for (let retry = 0; ; retry += 1) {
    const ownWaitMs = FIRST_WAIT_MS * 2 ** retry;
    let waitMs = ownWaitMs;
    try {
      const response = await send();
      if (retry === retries || !PASSING.has(response.status)) return response;
      waitMs = Math.max(ownWaitMs, retryAfterMs(response.headers, clock.now()) ?? 0);
      if (waitMs > LONGEST_WAIT_MS) return response;
      await response.body?.cancel();
    } catch (error) {
      if (retry === retries || !(error instanceof EgressError && error.kind === "network")) throw error;
    }
    await sleepOrThrow(waitMs, signal);
  }
}

/** A response as functions return it; the names of headers are in lower case, and `set-cookie` is a list. */
export type HttpResult = { status: number; headers: Record<string, string | string[]>; body: Json };

/** `redact` is applied to binary data: within base64, some forms of a secret are not found. */
type Reading = { redact: RedactBody; memory: StepMemory };

export async function readResponse(response: Response, reading: Reading): Promise<HttpResult> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: readHeaders(response.headers),
    body: await readBody(bytes, response.headers, reading),
  };
}

function readHeaders(headers: Headers): HttpResult["headers"] {
  const cookies = headers.getSetCookie().map(readField);
  const fields = [...headers].map(([name, value]) => [
    name,
    name === "set-cookie" ? cookies : readField(value),
  ]);
  return Object.fromEntries(fields);
}

/** Valid JSON is parsed, text stays text, anything else becomes `{ "base64": "…", "bytes": N }`. */
async function readBody(bytes: Uint8Array<ArrayBuffer>, headers: Headers, reading: Reading): Promise<Json> {
  const contentType = headers.get("content-type") ?? "";
  if (bytes.length > LONG_BODY_BYTES) await takeTurn();
  const text = decodeBody(bytes, contentType);
  if (text === undefined) return asBase64(bytes, reading.redact);
  if (/^((application|text)\/(x-)?json|.*\+json)$/.test(mediaTypeOf(contentType))) {
    await reading.memory.holdText(text);
    try {
      return await parseLargeJson(text);
    } catch {
      return text;
    }
  }
  return text;
}

/** The addresses of a `Link` header by their relation, such as `next` (RFC 8288). */
export function readLinks({ link = "" }: HttpResult["headers"]): Record<string, string> {
  const links = new Map<string, string>();
  for (const [, target, attributes] of String(link)
    .slice(0, 16_384)
    .matchAll(/<([^<>]*)>([^<>]*)/g)) {
    const relations = /;\s*rel\s*=\s*"?([^";,]+)/i.exec(attributes ?? "")?.[1];
    for (const relation of relations?.trim().toLowerCase().split(/\s+/) ?? []) {
      if (target !== undefined && !links.has(relation)) links.set(relation, target);
    }
  }
  return Object.fromEntries(links);
}
