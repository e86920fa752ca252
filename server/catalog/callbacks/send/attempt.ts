import type { Environment } from "@/server/base/settings/env";
import { KIB } from "@/server/contract/sizes";
import { readCallbackAddress } from "@/server/guard/egress/callback-address";
import { EgressError, retryAfterMs } from "@/server/guard/egress/failures";
import { createRedactor, type Redact } from "@/server/guard/secrets/redact";
import { replaceNul } from "@/server/guard/secrets/stored-output";
import type { Services } from "@/server/guard/services";

const ATTEMPT_MS = 10_000;
const KEPT_BYTES = KIB;
const SHOWN_TARGET_LENGTH = 200;

export type AttemptResult = {
  /** The HTTP status; null: there was no answer. */
  status: number | null;
  /** The reason that it failed; null: it was delivered. */
  error: string | null;
  /** The first KiB of the answer, without secrets. */
  answer: string;
  durationMs: number;
};

type Call = {
  /** Calls of different owners share no connections. */
  owner: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  secrets: readonly string[];
};

/** Posts a callback once. Only a 2xx status is a success. `retryAfterMs`: the pause that the endpoint asks for. */
export async function attemptCall(
  { fetch, env, clock }: Pick<Services, "fetch" | "clock"> & { env: Pick<Environment, "egressAllow"> },
  { owner, url, headers, body, secrets }: Call,
): Promise<AttemptResult & { retryAfterMs?: number | undefined }> {
  const address = readCallbackAddress(url, env.egressAllow);
  if ("issue" in address) {
    return { status: null, error: `The address ${address.issue}.`, answer: "", durationMs: 0 };
  }
  const startedAt = performance.now();
  const since = () => Math.round(performance.now() - startedAt);
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Stepwell", ...headers },
      body,
      redirect: "manual",
      timeoutMs: ATTEMPT_MS,
      organizationId: owner,
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return { status: null, error: error.message, answer: "", durationMs: since() };
  }
  const durationMs = since();
  const { redact } = createRedactor(secrets.map((value) => ({ value, mark: "[secret]" })));
  const answer = replaceNul(redact(await readStart(response)));
  const { status } = response;
  return {
    status,
    error: describeFailure(response, redact),
    answer,
    durationMs,
    retryAfterMs: status === 429 || status === 503 ? retryAfterMs(response.headers, clock.now()) : undefined,
  };
}

function describeFailure({ status, headers }: Response, redact: Redact): string | null {
  if (status >= 200 && status < 300) return null;
  const location = headers.get("location");
  if (status < 300 || status >= 400 || location === null) return `The endpoint answered ${status}.`;
  const target = redact(location).slice(0, SHOWN_TARGET_LENGTH);
  return `The endpoint redirects (${status}) to ${target}; callbacks do not follow redirects.`;
}

// An answer that breaks off counts as far as it came.
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes < KEPT_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      bytes += value.byteLength;
    }
    if (bytes >= KEPT_BYTES) await reader.cancel();
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
  }
  const start = Buffer.concat(chunks).subarray(0, KEPT_BYTES);
  // A character that the cut would split is omitted.
  return new TextDecoder().decode(start, { stream: true });
}
