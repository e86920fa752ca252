import { isJsonObject, tryParseJson } from "@/server/base/json/json";

/** `status` is null without a response. */
type HttpExchange = { method: string; url: string; status: number | null };

/**
 * The request of an `http_request` step, with its query in the URL, and the response status. Both texts may be cut.
 * Null if the URL is unreadable.
 */
export function readHttpExchange(input: string, output: string | null): HttpExchange | null {
  const sent = tryParseJson(input);
  if (!isJsonObject(sent) || typeof sent.url !== "string") return null;
  return {
    method: typeof sent.method === "string" ? sent.method : "GET",
    url: withQuery(sent.url, sent.query),
    status: output === null ? null : readStatus(output),
  };
}

/** The status comes first, so that a cut output has it. */
function readStatus(output: string): number | null {
  const found = /^\{\s*"status":\s*(\d{3})\b/.exec(output)?.[1];
  return found === undefined ? null : Number(found);
}

/** Keeps the address as written, with references to secrets. */
function withQuery(url: string, query: unknown): string {
  if (!isJsonObject(query) || !URL.canParse(url)) return url;
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) added.append(name, String(item));
    }
  }
  if (added.size === 0) return url;
  const [address = "", fragment] = url.split("#");
  const complete = `${address}${address.includes("?") ? "&" : "?"}${added}`;
  return fragment === undefined ? complete : `${complete}#${fragment}`;
}
