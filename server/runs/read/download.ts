import type { MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";

/**
 * A run as a file: the row, its steps and its model calls, with complete texts and decimals as strings. Null if
 * unknown.
 */
export async function readCompleteRun(
  services: Services,
  actor: MemberActor,
  runId: string,
): Promise<object | null> {
  const run = await services.db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    omit: { organizationId: true, claimedBy: true, epoch: true, held: true },
    include: {
      steps: { orderBy: { stepNumber: "asc" }, omit: { organizationId: true, runId: true, sequence: true } },
      modelCalls: { orderBy: { id: "asc" }, omit: { organizationId: true, runId: true, sequence: true } },
    },
  });
  return run;
}
