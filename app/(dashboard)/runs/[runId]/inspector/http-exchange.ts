/** A call of another service in short: `status` is null while, or because, no answer came. */
export type HttpExchange = { method: string; url: string; status: number | null };

/**
 * Reads what a step of `http_request` sent where, with the query's parameters in the address, and the status that came
 * back. Both texts may be cut; null when the address cannot be made out.
 */
export function readHttpExchange(input: string, output: string | null): HttpExchange | null {
  const sent = parse(input);
  if (!isObject(sent) || typeof sent.url !== "string") return null;
  return {
    method: typeof sent.method === "string" ? sent.method : "GET",
    url: withQuery(sent.url, sent.query),
    status: output === null ? null : readStatus(output),
  };
}

/** The status stands first in the output, so that it is there in one that was cut. */
function readStatus(output: string): number | null {
  const found = /^\{\s*"status":\s*(\d{3})\b/.exec(output)?.[1];
  return found === undefined ? null : Number(found);
}

function withQuery(url: string, query: unknown): string {
  if (!isObject(query) || !URL.canParse(url)) return url;
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) target.searchParams.append(name, String(item));
    }
  }
  return target.href;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
