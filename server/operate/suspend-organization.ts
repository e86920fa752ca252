import type { OperatorActor } from "@/server/auth/actor";
import { isOpenSql } from "@/server/db/statement";
import { type AuditedChange, type AuditRecord, recordAudit } from "@/server/operate/audit";
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
    if (count > 0)
      await recordOrganizationAudit({ tx, actor, at }, { verb: "suspended", changes: { reason } });
  });
  // Starts lock the organization's row, so a start either committed before the suspension and is found here, or fails.
  // Parents first: their children end with them. Statuses are literals, for the partial index of open runs.
  const { rows: open } = await services.pool.query<{ id: string }>(
    `SELECT id FROM runs WHERE organization_id = $1 AND ${isOpenSql()}
       AND cancel_requested_at IS NULL ORDER BY id`,
    [actor.orgId],
  );
  for (const { id } of open)
    await cancelRun(services, actor.orgId, { runId: id, by: "the organization's suspension" });
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
    if (count > 0) await recordOrganizationAudit({ tx, actor, at }, { verb: "resumed" });
    return count > 0;
  });
}

async function recordOrganizationAudit(
  change: AuditedChange,
  entry: Omit<AuditRecord, "subject">,
): Promise<void> {
  const id = change.actor.orgId;
  const { name } = await change.tx.organization.findUniqueOrThrow({ where: { id } });
  await recordAudit(change, { ...entry, subject: { kind: "organization", id, name } });
}
