import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { readJson } from "@/server/base/json/json";
import { isTerminal, RUN_KINDS, RUN_STATUSES, STEP_STATUSES } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import { type RunConfiguration, runConfiguration } from "@/server/work/agent/definition";

const originRow = z.object({
  id: z.string(),
  kind: z.enum(RUN_KINDS),
  status: z.enum(RUN_STATUSES),
  errorCode: z.string().nullable(),
  targetId: z.string(),
  name: z.string(),
  version: z.number(),
  input: z.string(),
  metadata: z.string().nullable(),
  startedAt: z.date().nullable(),
  document: z.string(),
});

const READ_RUN = defineQuery(
  "read-fork-origin",
  originRow,
  `SELECT r.id, r.kind, r.status, r.error_code AS "errorCode", coalesce(r.agent_id, r.tool_id) AS "targetId", r.target_name AS name, r.target_version AS version,
          r.input, r.metadata, r.started_at AS "startedAt", c.document
   FROM runs r JOIN configurations c ON c.organization_id = r.organization_id AND c.hash = r.configuration_hash
   WHERE r.id = $1 AND r.organization_id = $2`,
);

const originStep = z.object({
  key: z.string(),
  number: z.number(),
  iteration: z.number(),
  name: z.string(),
  status: z.enum(STEP_STATUSES),
  bytes: z.number(),
  actions: z.number(),
});
export type OriginStep = z.infer<typeof originStep>;

const READ_STEPS = defineQuery(
  "read-fork-steps",
  originStep,
  `SELECT key, step_number AS number, iteration_number AS iteration, tool_name AS name, status, actions,
          octet_length(coalesce(output, ''))::int AS bytes
   FROM steps WHERE run_id = $1 AND organization_id = $2 ORDER BY step_number`,
);

const originCall = z.object({
  key: z.string(),
  /** The key of the step whose function made the call; null: the agent itself. */
  step: z.string().nullable(),
  model: z.string(),
  iteration: z.number(),
  bytes: z.number(),
  inputTokens: z.number(),
  cachedInputTokens: z.number(),
  cacheWriteTokens: z.number(),
  outputTokens: z.number(),
  /** False for a call of an own provider or the demo model. */
  isCharged: z.boolean(),
});
export type OriginCall = z.infer<typeof originCall>;

const READ_CALLS = defineQuery(
  "read-fork-calls",
  originCall,
  `SELECT key, substring(key FROM '^(.*)/model-') AS step, model, iteration_number AS iteration, input_tokens AS "inputTokens",
          cached_input_tokens AS "cachedInputTokens", cache_write_tokens AS "cacheWriteTokens", output_tokens AS "outputTokens",
          credits > 0 AS "isCharged",
          (octet_length(content) + octet_length(reasoning) + octet_length(tool_calls))::int AS bytes
   FROM model_calls
   WHERE run_id = $1 AND organization_id = $2 AND status = 'Completed'
   ORDER BY iteration_number`,
);

export type Origin = Omit<z.infer<typeof originRow>, "document"> & {
  configuration: RunConfiguration;
  steps: OriginStep[];
  /** The model calls of the agent itself. */
  calls: OriginCall[];
  /** The model calls of functions. */
  functionCalls: OriginCall[];
};

/** An ended run with its steps and model calls, without their texts. Throws `not_found` and `conflict`. */
export async function readOrigin(
  { pool }: Pick<Services, "pool">,
  { orgId }: { orgId: OrgId },
  runId: string,
): Promise<Origin> {
  const [row] = await READ_RUN(pool, [runId, orgId]);
  if (row === undefined) throw new AppError("not_found", "Run not found.");
  const { document, ...run } = row;
  if (!isTerminal(run.status)) {
    throw new AppError("conflict", `Only ended runs can be forked. The run's status is ${run.status}.`);
  }
  const configuration = runConfiguration.parse(readJson(document));
  const [steps, calls] = [await READ_STEPS(pool, [runId, orgId]), await READ_CALLS(pool, [runId, orgId])];
  return {
    ...run,
    configuration,
    steps,
    calls: calls.filter(({ step }) => step === null),
    functionCalls: calls.filter(({ step }) => step !== null),
  };
}
