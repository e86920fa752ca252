import type { ApiKeyActor } from "@/server/base/actor";
import type { Services } from "@/server/guard/services";
import { acquireRate, type RateDecision } from "./rate-limit";

/** Lists read more than polls. */
const LISTS_PER_MINUTE = 120;

/** Takes one list of a key; null if its reads are unlimited. */
export async function acquireList(
  { pool, clock }: Pick<Services, "pool" | "clock">,
  { apiKeyId, plan: { readsPerMinute } }: ApiKeyActor,
): Promise<RateDecision | null> {
  if (readsPerMinute === null) return null;
  const limit = Math.min(readsPerMinute, LISTS_PER_MINUTE);
  return acquireRate(pool, { key: `lists:${apiKeyId}`, limit, seconds: 60 }, { clock });
}
