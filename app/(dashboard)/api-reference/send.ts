/** The response to a call, or why there is none. */
export type Answer =
  | { status: string; ok: boolean; durationMs: number; requestId: string | null; text: string }
  | { failure: string };

const TIMEOUT_MS = 30_000;
const MAX_SHOWN = 100_000;

/** Sends a call to this service and reads its response, indented if it is JSON. Never throws. */
export async function send(
  path: string,
  request: { method: string; headers: Record<string, string>; body?: string },
): Promise<Answer> {
  const startedAt = performance.now();
  try {
    const response = await fetch(path, {
      ...request,
      // A call is made as a program would make it: with the key alone.
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = indent(await response.text());
    return {
      status: `${response.status} ${response.statusText}`.trim(),
      ok: response.ok,
      durationMs: performance.now() - startedAt,
      requestId: response.headers.get("x-request-id"),
      text: text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text,
    };
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return { failure: `There was no response within ${TIMEOUT_MS / 1000} s.` };
    }
    return { failure: "The call could not be sent. Check the header values and the connection." };
  }
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
