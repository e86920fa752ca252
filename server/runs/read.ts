import type { ApiKeyActor, OrgId } from "@/server/auth/actor";
import type { Run, Step } from "@/server/db/generated/client";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";

/** The organization's run of this kind. Unknown, of another organization or of the wrong kind: `not_found`. */
export async function readRun(
  services: Services,
  actor: ApiKeyActor,
  kind: "agent" | "tool",
  runId: string,
): Promise<Run> {
  const run = await services.db.run.findFirst({ where: { id: runId, organizationId: actor.orgId, kind } });
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
