import { z } from "zod";
import type { ApiKeyActor, OrgId } from "@/server/auth/actor";
import { Decimal } from "@/server/credits/amount";
import type { Step } from "@/server/db/generated/client";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";

/** By hand and prepared: polling is what the service does most, and Prisma costs more here than all the rest. */
const READ = {
  name: "read-run",
  text: `
  SELECT id, agent_id AS "agentId", tool_id AS "toolId", target_name AS "targetName",
         configuration_hash AS "configurationHash", status, input, output, error_message AS "errorMessage",
         cancelled_by AS "cancelledBy", steps_executed AS "stepsExecuted", input_tokens AS "inputTokens",
         output_tokens AS "outputTokens", actions_used AS "actionsUsed", credits_used AS "creditsUsed",
         created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt"
  FROM runs WHERE id = $1 AND organization_id = $2 AND kind = $3::run_kind`,
};

/** The organization's run of this kind. Unknown, of another organization or of the wrong kind: `not_found`. */
export async function readRun(
  services: Services,
  actor: ApiKeyActor,
  kind: "agent" | "tool",
  runId: string,
): Promise<RunFacts> {
  const { rows } = await services.pool.query({ ...READ, values: [runId, actor.orgId, kind] });
  const run = rows[0] === undefined ? null : runFacts.parse(rows[0]);
  const limited = actor.targetIds.length > 0 && !actor.targetIds.includes(run?.agentId ?? run?.toolId ?? "");
  if (run === null || limited) {
    throw new AppError("not_found", kind === "agent" ? "Agent run not found." : "Tool run not found.");
  }
  return run;
}

/** The finished steps of a run, in order. */
export async function readFinishedSteps(services: Services, orgId: OrgId, runId: string): Promise<Step[]> {
  return services.db.step.findMany({
    where: { runId, organizationId: orgId, status: { not: "Running" } },
    orderBy: { stepNumber: "asc" },
  });
}

/** The document of the configuration frozen into a run. */
export async function readConfiguration(
  services: Services,
  orgId: OrgId,
  hash: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const row = await services.db.configuration.findUniqueOrThrow({
    where: { organizationId_hash: { organizationId: orgId, hash } },
  });
  return row.document;
}
