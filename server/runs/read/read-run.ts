import { z } from "zod";
import type { ApiKeyActor, OrgId } from "@/server/base/actor";
import type { Step } from "@/server/base/db/generated/client";
import { defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import type { RunKind } from "@/server/contract/enums";
import { type RunFacts, runFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/runs/services";

/** Polls are the most frequent calls, and Prisma would cost more than the rest of a poll. */
export const readRunRow = defineQuery(
  "read-run",
  runFacts,
  `SELECT run.id, run.agent_id AS "agentId", run.tool_id AS "toolId", run.target_name AS "targetName",
         encode(run.configuration_hash, 'hex') AS "configurationHash", run.status, run.input, run.output,
         run.error_message AS "errorMessage", run.cancelled_by AS "cancelledBy",
         coalesce(open.steps, run.steps_executed) AS "stepsExecuted",
         coalesce(open.input_tokens, run.input_tokens) AS "inputTokens",
         coalesce(open.output_tokens, run.output_tokens) AS "outputTokens",
         coalesce(open.actions, run.actions_used) AS "actionsUsed",
         coalesce(open.credits, run.credits_used) AS "creditsUsed",
         run.created_at AS "createdAt", run.started_at AS "startedAt", run.finished_at AS "finishedAt"
  FROM runs AS run
  CROSS JOIN LATERAL open_run_figures(run.id, run.finished_at IS NULL) AS open
  WHERE run.id = $1 AND run.organization_id = $2 AND run.kind = $3::run_kind`,
);

/**
 * The organization's run of this kind, with its usage so far, from memory if possible. Throws `not_found` also for
 * the other kind.
 */
export async function readRun(
  services: Services,
  actor: ApiKeyActor,
  { kind, runId }: { kind: RunKind; runId: string },
): Promise<RunFacts> {
  const known = services.endedRuns.get(runId);
  if (known) return ownRun(actor, kind, known.orgId === actor.orgId ? known.run : null);
  const [found] = await readRunRow(services.pool, [runId, actor.orgId, kind]);
  const run = ownRun(actor, kind, found);
  if (run.finishedAt !== null) {
    services.endedRuns.add(actor.orgId, run);
    return run;
  }
  // Some of the usage in this process is not written yet.
  return { ...run, ...services.engine.find(runId)?.totals };
}

/** Throws `not_found` if the key may not read it. */
export function ownRun(actor: ApiKeyActor, kind: RunKind, run: RunFacts | null | undefined): RunFacts {
  const targetId = kind === "agent" ? run?.agentId : run?.toolId;
  const isLimited = actor.targetIds.length > 0 && !actor.targetIds.includes(targetId ?? "");
  if (!run || !targetId || isLimited) {
    throw new AppError("not_found", kind === "agent" ? "Agent run not found." : "Tool run not found.");
  }
  return run;
}

const SIZE = defineQuery(
  "size-of-steps",
  z.object({ bytes: z.number() }),
  `SELECT coalesce(sum(octet_length(input) + octet_length(coalesce(output, '')) + octet_length(reasoning)), 0)::float8 AS bytes
   FROM steps WHERE run_id = $1 AND organization_id = $2`,
);

export async function sizeOfSteps(
  { pool }: Pick<Services, "pool">,
  orgId: OrgId,
  runId: string,
): Promise<number> {
  const [size] = await SIZE(pool, [runId, orgId]);
  return size?.bytes ?? 0;
}

export async function readFinishedSteps(
  services: Pick<Services, "db">,
  orgId: OrgId,
  runId: string,
): Promise<Step[]> {
  return services.db.step.findMany({
    where: { runId, organizationId: orgId, status: { notIn: ["Running", "Skipped"] } },
    orderBy: { stepNumber: "asc" },
  });
}

/** Throws `not_found`: retention has deleted it with its last run. */
export async function readConfiguration(
  services: Pick<Services, "db">,
  orgId: OrgId,
  hash: string,
): Promise<string> {
  const row = await services.db.configuration.findUnique({
    where: {
      organizationId_hash: { organizationId: orgId, hash: Uint8Array.from(Buffer.from(hash, "hex")) },
    },
  });
  if (row === null) throw new AppError("not_found", "Tool run not found.");
  return row.document;
}
