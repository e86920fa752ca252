import type { OperatorActor } from "@/server/base/actor";
import { type AuditedChange, type AuditRecord, recordAudit } from "@/server/base/audit";
import { queryThrough } from "@/server/base/db/statement";
import { transactPrisma } from "@/server/base/db/transaction";
import { requestCancels } from "@/server/runs/cancel";
import type { Services } from "@/server/services";

/**
 * Suspends an organization: nothing new starts, and its open runs are cancelled (docs/contract.md, "States"). For the
 * operator only. Returns how many runs it cancelled.
 */
export async function suspendOrganization(
  services: Services,
  actor: OperatorActor,
  reason: string,
): Promise<number> {
  const { db, clock } = services;
  const at = clock.now();
  const cancels = await transactPrisma(db, "short", async (tx) => {
    const { count } = await tx.organization.updateMany({
      where: { id: actor.orgId, suspendedAt: null },
      data: { suspendedAt: at, suspendedReason: reason, updatedAt: at },
    });
    if (count > 0)
      await recordOrganizationAudit({ tx, actor, at }, { verb: "suspended", changes: { reason } });
    // Starts lock the organization's row, so a start either committed before the suspension and is found here, or fails.
    const by = "the organization's suspension";
    return requestCancels(queryThrough(tx), actor.orgId, { by, at: clock.forDatabase() });
  });
  await cancels.endAll(services);
  return cancels.count;
}

/** Lets a suspended organization start runs again. Returns false if it was not suspended. */
export async function resumeOrganization(
  services: Pick<Services, "db" | "clock">,
  actor: OperatorActor,
): Promise<boolean> {
  const at = services.clock.now();
  return transactPrisma(services.db, "short", async (tx) => {
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
