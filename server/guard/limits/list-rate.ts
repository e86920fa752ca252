import type { ApiKeyActor } from "@/server/base/actor";
import type { Services } from "@/server/guard/services";
import { acquireRate, type RateDecision } from "./rate-limit";

// Lists read more than polls, and changes exclude each other.
const QUEUED_PER_MINUTE = 120;

/** Takes one list or change of a key; null if its reads are unlimited. */
export async function acquireQueued(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  { apiKeyId, plan: { readsPerMinute } }: ApiKeyActor,
  name: "lists" | "changes",
): Promise<RateDecision | null> {
  if (readsPerMinute === null) return null;
  const limit = Math.min(readsPerMinute, QUEUED_PER_MINUTE);
  return acquireRate(pool, { key: `${name}:${apiKeyId}`, limit, seconds: 60 }, { clock });
}
