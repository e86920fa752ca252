import type { OperatorActor } from "@/server/base/actor";
import { type AuditedChange, type AuditRecord, recordAudit } from "@/server/base/audit";
import { queryThrough } from "@/server/base/db/statement";
import { transactPrisma } from "@/server/base/db/transaction";
import { restartFailures } from "@/server/catalog/callbacks/send/disable-endpoint";
import { endCancelled, requestCancels } from "@/server/runs/cancel";
import type { Services } from "@/server/services";

// In one transaction, which holds the organization's row the first time.
const BATCH = 2_000;

/**
 * Suspends an organization: nothing new starts, and its open runs are cancelled (docs/contract.md, "States"). For the
 * operator only. Returns how many runs it cancelled. Can be repeated after an interruption.
 */
export async function suspendOrganization(
  services: Services,
  actor: OperatorActor,
  reason: string,
): Promise<number> {
  const { db, pool, clock } = services;
  const { orgId } = actor;
  const at = clock.now();
  const by = "the organization's suspension";
  const requested = { by, at: clock.forDatabase(), limit: BATCH };
  const runs = await transactPrisma(db, "short", async (tx) => {
    const { count } = await tx.organization.updateMany({
      where: { id: orgId, suspendedAt: null },
      data: { suspendedAt: at, suspendedReason: reason, updatedAt: at },
    });
    if (count > 0)
      await recordOrganizationAudit({ tx, actor, at }, { verb: "suspended", changes: { reason } });
    // Starts lock the organization's row, so a start either committed before the suspension and is found here, or fails.
    return requestCancels(queryThrough(tx), orgId, requested);
  });
  for (let marked = runs.length; marked === BATCH; ) {
    const more = await requestCancels(pool, orgId, requested);
    marked = more.length;
    runs.push(...more);
  }
  await endCancelled(services, orgId, { runs, by });
  return runs.length;
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
    if (count === 0) return false;
    await restartFailures(tx, actor.orgId);
    await recordOrganizationAudit({ tx, actor, at }, { verb: "resumed" });
    return true;
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
