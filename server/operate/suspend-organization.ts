import type { OperatorActor } from "@/server/auth/actor";
import { recordAudit } from "@/server/operate/audit";
import { cancelRun } from "@/server/runs/cancel";
import type { Services } from "@/server/services";

/**
 * Suspends an organization: nothing new starts, and its open runs are cancelled (docs/contract.md, "States"). For the
 * operator only; repeating it cancels runs that are still open. Returns how many were cancelled.
 */
export async function suspendOrganization(
  services: Services,
  actor: OperatorActor,
  reason: string,
): Promise<number> {
  const { db, clock } = services;
  const at = clock.now();
  await db.$transaction(async (tx) => {
    const { count } = await tx.organization.updateMany({
      where: { id: actor.orgId, suspendedAt: null },
      data: { suspendedAt: at, suspendedReason: reason, updatedAt: at },
    });
    if (count > 0) await note(tx, actor, "suspended", { reason }, at);
  });
  // Starts lock the organization's row, so a start either committed before the suspension and is found here, or fails.
  // Parents first: their children end with them. Statuses are literals, for the partial index of open runs.
  const { rows: open } = await services.pool.query<{ id: string }>(
    `SELECT id FROM runs WHERE organization_id = $1 AND status IN ('Pending', 'Running')
       AND cancel_requested_at IS NULL ORDER BY id`,
    [actor.orgId],
  );
  for (const { id } of open) await cancelRun(services, actor.orgId, id, "the organization's suspension");
  return open.length;
}

/** Lets a suspended organization start runs again. Returns false if it was not suspended. */
export async function resumeOrganization(
  services: Pick<Services, "db" | "clock">,
  actor: OperatorActor,
): Promise<boolean> {
  const at = services.clock.now();
  return services.db.$transaction(async (tx) => {
    const { count } = await tx.organization.updateMany({
      where: { id: actor.orgId, suspendedAt: { not: null } },
      data: { suspendedAt: null, suspendedReason: null, updatedAt: at },
    });
    if (count > 0) await note(tx, actor, "resumed", {}, at);
    return count > 0;
  });
}

async function note(
  tx: Parameters<typeof recordAudit>[0],
  actor: OperatorActor,
  verb: string,
  changes: { reason?: string },
  at: Date,
): Promise<void> {
  const { name } = await tx.organization.findUniqueOrThrow({ where: { id: actor.orgId } });
  const subject = { kind: "organization", id: actor.orgId, name } as const;
  await recordAudit(tx, actor.orgId, { actor, verb, subject, changes, at });
}
