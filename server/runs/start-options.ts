import type { Decimal } from "@/server/base/amount";
import { isJsonObject, readJson, writeJson } from "@/server/base/json/json";

export type StartOptions = {
  /** The run's cap, unless a provider ignores its output limit. */
  maxCredits?: Decimal | undefined;
  /** At most the deadline of the agent or tool. */
  deadlineSeconds?: number | undefined;
  /** A flat JSON object of texts, numbers and booleans. */
  metadata?: string | undefined;
  callbackUrl?: string | undefined;
  /** The caller's trace (W3C Trace Context). */
  traceParent?: string | undefined;
};

/** Adds the metadata of the run that a start repeats, unless the start has its own. */
export function withMetadataOf(run: { metadata: string | null }, options: StartOptions = {}): StartOptions {
  return { ...options, metadata: options.metadata ?? run.metadata ?? undefined };
}

/** The pairs of a run's stored metadata, with each value as the text that filters compare. */
export function metadataPairs(stored: string | null): [string, string][] {
  const metadata = stored === null ? null : readJson(stored);
  if (!isJsonObject(metadata)) return [];
  return Object.entries(metadata).map(([name, value]) => [
    name,
    typeof value === "string" ? value : writeJson(value),
  ]);
}
