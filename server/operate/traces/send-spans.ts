import { z } from "zod";
import { tryParseJson } from "@/server/base/json/json";
import type { TraceSettings } from "@/server/base/settings/env";
import { createTrustedEgress, type EgressFetch } from "@/server/guard/egress/trusted-fetch";
import { type Span, toOtlp } from "./otlp";

export const REQUEST_TIMEOUT_MS = 10_000;
// Of OTLP over HTTP; other errors are final.
const TEMPORARY = new Set([429, 502, 503, 504]);

const partial = z.object({
  partialSuccess: z.object({
    rejectedSpans: z.coerce.number().default(0),
    errorMessage: z.string().default(""),
  }),
});

type Issue = { kind: "unavailable" | "rejected" | "rejectedInPart"; error: string };

/**
 * Sends spans to the collector, each request only if `mayContinue`. Returns why it did not take all of them; null if it
 * did. Throws if `spans` throws.
 */
export async function sendSpans(
  spans: AsyncIterable<Span>,
  { url, headers, serviceName }: TraceSettings,
  mayContinue: () => Promise<boolean>,
): Promise<Issue | null> {
  const { fetch, close } = createTrustedEgress({ silenceMs: REQUEST_TIMEOUT_MS });
  let issue: Issue | null = null;
  try {
    for await (const body of toOtlp(spans, { "service.name": serviceName })) {
      if (!(await mayContinue())) return { kind: "unavailable", error: "The process is stopping." };
      const sent = await send(fetch, { url, headers, body });
      if (sent !== null && sent.kind !== "rejectedInPart") return sent;
      issue = sent ?? issue;
    }
    return issue;
  } finally {
    await close();
  }
}

type Request = Pick<TraceSettings, "url" | "headers"> & { body: string };

async function send(fetch: EgressFetch, { url, headers, body }: Request): Promise<Issue | null> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) {
      const kind = TEMPORARY.has(response.status) ? "unavailable" : "rejected";
      return { kind, error: `${response.status} ${text.slice(0, 500)}` };
    }
    const answer = partial.safeParse(tryParseJson(text)).data?.partialSuccess;
    if (!answer || answer.rejectedSpans === 0) return null;
    return { kind: "rejectedInPart", error: `${answer.rejectedSpans} spans: ${answer.errorMessage}` };
  } catch (error) {
    return { kind: "unavailable", error: error instanceof Error ? error.message : String(error) };
  }
}
