/**
 * Bytes of a body that may stand among a command's arguments: Linux takes no argument beyond 128 KiB ("Argument list
 * too long").
 */
const MOST_IN_ARGUMENT = 100_000;

/**
 * The call of the API that posts `body`, as a command to paste into a POSIX shell; its key comes from `API_KEY`. A long
 * body goes through a pipe, written by the shell's own `printf`, for which no limit holds and which adds no byte.
 */
export function curlOf({ url, body }: { url: string; body: string }): string {
  const isLong = new TextEncoder().encode(body).length > MOST_IN_ARGUMENT;
  const call = [
    `curl -X POST ${quoted(url)}`,
    `  -H "X-API-Key: $API_KEY"`,
    "  -H 'Content-Type: application/json'",
    isLong ? "  --data-binary @-" : `  --data-raw ${quoted(body)}`,
  ].join(" \\\n");
  return isLong ? `printf %s ${quoted(body)} | ${call}` : call;
}

/** Text as one word of a shell, whatever stands in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
