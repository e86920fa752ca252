import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { MAX_TOKENS_OF_RUN } from "@/server/runs/engine/claimed-run";
import type { Services } from "@/server/runs/services";

const SUM_CACHED = defineQuery(
  "sum-cached-tokens",
  z.object({ runId: z.string(), tokens: z.number() }),
  `SELECT run_id AS "runId", least(sum(cached_input_tokens), ${MAX_TOKENS_OF_RUN})::int AS tokens FROM model_calls
   WHERE organization_id = $1 AND run_id = ANY ($2::uuid[])
   GROUP BY run_id HAVING sum(cached_input_tokens) > 0`,
);

/** The input tokens of runs that came from a provider's cache; runs without any are left out. */
export async function sumCachedTokens({ pool }: Pick<Services, "pool">, orgId: OrgId, runIds: string[]) {
  return runIds.length === 0 ? [] : SUM_CACHED(pool, [orgId, runIds]);
}
