import type { Json, JsonObject } from "@/server/json/json";
import { parseLargeJson } from "@/server/json/large";

/** A response as functions return it; the names of headers are in lower case. */
export type HttpResult = { status: number; headers: Record<string, string>; body: Json };

type Redact = (value: Json) => Promise<Json>;

/** Reads a response to its end. `redact` is applied to binary data: within base64, some forms of a secret are not found. */
export async function readResponse(response: Response, redact: Redact): Promise<HttpResult> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await readBody(bytes, response.headers, redact),
  };
}

/** A body of a JSON type parsed if it is valid, text as text, anything else as `{ "base64": "…", "bytes": N }`. */
async function readBody(bytes: Uint8Array<ArrayBuffer>, headers: Headers, redact: Redact): Promise<Json> {
  const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  let text: string;
  try {
    text = new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return asBase64(bytes, redact);
  }
  if (/^(application\/json|text\/json|.*\+json)$/.test(type.trim())) {
    try {
      return await parseLargeJson(text);
    } catch {
      return text;
    }
  }
  return text.includes("\u0000") ? asBase64(bytes, redact) : text;
}

async function asBase64(bytes: Uint8Array<ArrayBuffer>, redact: Redact): Promise<JsonObject> {
  const received = Buffer.from(bytes);
  const cleaned = await redact(received.toString("latin1"));
  const kept = typeof cleaned === "string" ? Buffer.from(cleaned, "latin1") : received;
  return { base64: kept.toString("base64"), bytes: kept.length };
}

/** The addresses of a `Link` header by their relation, such as `next` (RFC 8288). */
export function readLinks(header: string | undefined): Record<string, string> {
  const links = new Map<string, string>();
  for (const [, target, attributes] of (header ?? "").slice(0, 16_384).matchAll(/<([^<>]*)>([^<>]*)/g)) {
    const relations = /;\s*rel\s*=\s*"?([^";,]+)/i.exec(attributes ?? "")?.[1];
    for (const relation of relations?.trim().toLowerCase().split(/\s+/) ?? []) {
      if (target !== undefined && !links.has(relation)) links.set(relation, target);
    }
  }
  return Object.fromEntries(links);
}
