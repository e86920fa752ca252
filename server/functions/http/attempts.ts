import type { Clock } from "@/server/clock";
import { NetworkError, retryAfterMs } from "@/server/egress/failures";
import { sleepOrThrow } from "@/server/sleep";

/** Methods that may be sent again without doing something twice (RFC 9110, section 9.2.2). */
export const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
const PASSING = new Set([429, 502, 503, 504]);
/** The wait before the first retry; doubles each time. */
const FIRST_WAIT_MS = 250;
/** If a server asks for a longer wait, its response is the result. */
const LONGEST_WAIT_MS = 20_000;

/**
 * Sends a request, and retries it after network failures and temporary statuses, up to `retries` times. The last response
 * is the result, whatever its status. Throws what `send` throws, or the signal's reason.
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
      if (retry === retries || !(error instanceof NetworkError)) throw error;
    }
    await sleepOrThrow(waitMs, signal);
  }
}
