import { z } from "zod";
import type { OperatorActor } from "@/server/base/actor";
import { recordInstallationAudit } from "@/server/base/audit";
import { defineCommand, defineQuery, isOpenSql } from "@/server/base/db/statement";
import { transactRemoval } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { sleep } from "@/server/base/sleep";
import type { Services } from "@/server/services";
import { removeInBatches } from "./remove-in-batches";
import { suspendOrganization } from "./suspend-organization";

// A process cancels its running run within 30 s; a run without a process is not waited for longer.
const CANCEL_PATIENCE_MS = 35_000;
const POLL_MS = 250;

const COUNT_OPEN = defineQuery(
  "count-open-runs",
  z.object({ open: z.number() }),
  `SELECT count(*)::int AS open FROM runs WHERE organization_id = $1 AND ${isOpenSql()}`,
);

// `$1` is the organization, `$2` the batch; the rest cascades at the end, in a transaction that holds the organization's
// row. What starts runs goes first: a start would wait for that row, and hold up those of other organizations.
const REMOVALS = Object.entries({
  times_of_schedules: `
    UPDATE schedules SET next_at = NULL
    WHERE id IN (SELECT id FROM schedules WHERE organization_id = $1 AND next_at IS NOT NULL LIMIT $2)`,
  schedule_ticks: `
    DELETE FROM schedule_ticks WHERE (schedule_id, due_at) IN (
      SELECT schedule_id, due_at FROM schedule_ticks WHERE organization_id = $1 LIMIT $2)`,
  deliveries:
    "DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE organization_id = $1 LIMIT $2)",
  // With their deliveries.
  callback_events:
    "DELETE FROM callback_events WHERE id IN (SELECT id FROM callback_events WHERE organization_id = $1 LIMIT $2)",
  runs: `
    WITH RECURSIVE tree AS (
      (SELECT id FROM runs WHERE organization_id = $1 AND parent_run_id IS NULL LIMIT $2)
      UNION ALL
      SELECT child.id FROM runs child JOIN tree ON child.parent_run_id = tree.id
    )
    DELETE FROM runs WHERE id IN (SELECT id FROM tree)`,
  configurations: `
    DELETE FROM configurations WHERE organization_id = $1
      AND hash IN (SELECT hash FROM configurations WHERE organization_id = $1 LIMIT $2)`,
  audit_entries:
    "DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE organization_id = $1 LIMIT $2)",
  key_values: `
    DELETE FROM key_values WHERE organization_id = $1
      AND key IN (SELECT key FROM key_values WHERE organization_id = $1 LIMIT $2)`,
}).map(([what, text]) => defineCommand(`remove-organization-${what}`, text));

/**
 * Deletes an organization with everything but members' accounts. Fails while runs are open, unless `force` cancels
 * them. Can be repeated after an interruption. Throws `invalid_request`. Returns the emails of accounts without an
 * organization.
 */
export async function removeOrganization(
  services: Services,
  actor: OperatorActor,
  { force = false, patienceMs = CANCEL_PATIENCE_MS }: { force?: boolean; patienceMs?: number } = {},
): Promise<{ strandedUsers: string[] }> {
  const { pool, clock } = services;
  const open = await countOpenRuns(services, actor);
  if (open > 0 && !force) {
    throw new AppError(
      "invalid_request",
      `${open === 1 ? "1 run is" : `${open} runs are`} open. Wait until they end, or cancel them with --force.`,
    );
  }
  await suspendOrganization(services, actor, "the organization is being removed");
  await waitForRuns(services, actor, patienceMs);
  for (const remove of REMOVALS) {
    const ofOrganization = (limit: number) => remove(pool, [actor.orgId, limit]);
    while ((await removeInBatches(ofOrganization, { clock })).more);
  }
  // Ledger entries can only be deleted together with their organization, in one statement.
  return transactRemoval(services, async (tx) => {
    const users = await tx.user.findMany({
      where: {
        members: { some: { organizationId: actor.orgId }, every: { organizationId: actor.orgId } },
      },
      select: { email: true },
      orderBy: { email: "asc" },
    });
    const { slug } = await tx.organization.delete({ where: { id: actor.orgId }, select: { slug: true } });
    await recordInstallationAudit(tx, {
      actorName: actor.name,
      action: "organization.removed",
      subject: { kind: "organization", id: actor.orgId, name: slug },
      changes: { openRuns: open },
      at: clock.now(),
    });
    return { strandedUsers: users.map(({ email }) => email) };
  });
}

/** A run whose process is gone stays open. Deleting it rejects later writes of that process. */
async function waitForRuns(
  services: Pick<Services, "pool">,
  actor: OperatorActor,
  patienceMs: number,
): Promise<void> {
  const patience = AbortSignal.timeout(patienceMs);
  while (!patience.aborted && (await countOpenRuns(services, actor)) > 0) await sleep(POLL_MS, patience);
}

async function countOpenRuns({ pool }: Pick<Services, "pool">, { orgId }: OperatorActor): Promise<number> {
  const [row] = await COUNT_OPEN(pool, [orgId]);
  return row?.open ?? 0;
}
