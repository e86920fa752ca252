import type { Json, JsonObject } from "@/server/json";
import { parseLargeJson } from "@/server/large-json";

/** A response as functions return it; the names of headers are in lower case. */
export type HttpResult = { status: number; headers: Record<string, string>; body: Json };

/** Reads a response to its end. */
export async function readResponse(response: Response): Promise<HttpResult> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await readBody(bytes, response.headers),
  };
}

/** JSON parsed when the type says JSON (and the text is), text as text, anything else as `{ "base64": "…", "bytes": N }`. */
async function readBody(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Json> {
  const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  let text: string;
  try {
    text = new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return asBase64(bytes);
  }
  if (/^(application\/json|text\/json|.*\+json)$/.test(type.trim())) {
    try {
      return await parseLargeJson(text);
    } catch {
      return text;
    }
  }
  return text.includes("\u0000") ? asBase64(bytes) : text;
}

function asBase64(bytes: Uint8Array<ArrayBuffer>): JsonObject {
  return { base64: Buffer.from(bytes).toString("base64"), bytes: bytes.length };
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
