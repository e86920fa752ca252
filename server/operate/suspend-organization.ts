import { z } from "zod";
import type { OperatorActor } from "@/server/auth/actor";
import { defineQuery, isOpenSql } from "@/server/db/statement";
import { transactPrisma } from "@/server/db/transaction";
import { type AuditedChange, type AuditRecord, recordAudit } from "@/server/operate/audit";
import { cancelRun } from "@/server/runs/cancel";
import type { Services } from "@/server/services";

/** Parents first: their children end with them. */
const FIND_OPEN_RUNS = defineQuery(
  "find-open-runs-to-cancel",
  z.object({ id: z.string() }),
  `SELECT id FROM runs WHERE organization_id = $1 AND ${isOpenSql()} AND cancel_requested_at IS NULL ORDER BY id`,
);

/**
 * Suspends an organization: nothing new starts, and its open runs are cancelled (docs/contract.md, "States"). For the
 * operator only; repeating it cancels runs that are still open. Returns how many were cancelled.
 */
export async function suspendOrganization(
  services: Services,
  actor: OperatorActor,
  reason: string,
): Promise<number> {
  const { db, pool, clock } = services;
  const at = clock.now();
  await transactPrisma(db, "short", async (tx) => {
    const { count } = await tx.organization.updateMany({
      where: { id: actor.orgId, suspendedAt: null },
      data: { suspendedAt: at, suspendedReason: reason, updatedAt: at },
    });
    if (count > 0)
      await recordOrganizationAudit({ tx, actor, at }, { verb: "suspended", changes: { reason } });
  });
  // Starts lock the organization's row, so a start either committed before the suspension and is found here, or fails.
  const open = await FIND_OPEN_RUNS(pool, [actor.orgId]);
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
