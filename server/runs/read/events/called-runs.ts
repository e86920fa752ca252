import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { RUN_KINDS } from "@/server/contract/enums";
import { calledRunId } from "@/server/runs/engine/called-run";
import type { Services } from "@/server/runs/services";
import { WORKFLOW_LIMITS } from "@/server/work/workflow/definition";
import type { RunRef, StepCall } from "./read-events";

// Each attempt of a step may call a run.
const ATTEMPTS = Array.from({ length: WORKFLOW_LIMITS.retries + 1 }, (_, n) => n + 1);

const READ_OPEN_CALLS = defineQuery(
  "read-open-calls",
  z.object({ n: z.number(), key: z.string(), stepNumber: z.number() }),
  `SELECT started_event AS n, key, step_number AS "stepNumber" FROM steps
   WHERE run_id = $1 AND child_run_id IS NOT NULL AND started_event <= $2 AND (finished_event IS NULL OR finished_event > $2)
   ORDER BY started_event`,
);

/** The steps that call runs, whose start a reader has and whose completion it has not. */
export function readOpenCalls(
  { pool }: Pick<Services, "pool">,
  runId: string,
  n: number,
): Promise<StepCall[]> {
  return READ_OPEN_CALLS(pool, [runId, n]);
}

const READ_CALLED = defineQuery(
  "read-called-runs",
  z.object({ runId: z.string(), kind: z.enum(RUN_KINDS), targetId: z.string().nullable() }),
  `SELECT id AS "runId", kind, coalesce(agent_id, tool_id) AS "targetId" FROM runs
   WHERE parent_run_id = $1 AND organization_id = $2 AND id = ANY($3)`,
);

/** The runs that a step has called so far, in order, as far as the key may read them. */
export async function readCalledRuns(
  { pool }: Pick<Services, "pool">,
  actor: ApiKeyActor,
  { runId, key }: { runId: string; key: string },
): Promise<(RunRef & { attempt: number })[]> {
  const attemptOf = new Map(ATTEMPTS.map((attempt) => [calledRunId(runId, key, attempt), attempt]));
  const found = await READ_CALLED(pool, [runId, actor.orgId, [...attemptOf.keys()]]);
  return found
    .filter(({ targetId }) => actor.targetIds.length === 0 || actor.targetIds.includes(targetId ?? ""))
    .map(({ runId: id, kind }) => ({ runId: id, kind, attempt: attemptOf.get(id) ?? 0 }))
    .sort((one, other) => one.attempt - other.attempt);
}
