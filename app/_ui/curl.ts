import { JSON_TYPE } from "@/server/contract/media-types";

/** Longer bodies are piped: Linux rejects an argument over 128 KiB ("Argument list too long"). */
const MAX_IN_ARGUMENT = 100_000;

/**
 * A shell command that posts `body` with the key in `API_KEY`. Pipes a long body from the shell's own `printf`,
 * which has no size limit.
 */
export function curlOf({ url, body }: { url: string; body: string }): string {
  const isLong = new TextEncoder().encode(body).length > MAX_IN_ARGUMENT;
  const call = [
    `curl -X POST ${quoted(url)}`,
    `  -H "X-API-Key: $API_KEY"`,
    `  -H 'Content-Type: ${JSON_TYPE}'`,
    isLong ? "  --data-binary @-" : `  --data-raw ${quoted(body)}`,
  ].join(" \\\n");
  return isLong ? `printf %s ${quoted(body)} | ${call}` : call;
}

/** Quotes a text as one word for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
