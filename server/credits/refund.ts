import { z } from "zod";
import { actorReference, type OperatorActor, type OrgId } from "@/server/base/actor";
import { type Decimal, decimalText, ZERO } from "@/server/base/amount";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { parseInput } from "@/server/base/issues";
import { idInput } from "@/server/contract/ids";
import type { Services } from "@/server/credits/services";
import { type LedgerEntry, lockOrganization, postEntries } from "./ledger";

const CHARGES = defineQuery(
  "find-refundable",
  z.object({ runId: z.string(), charged: decimalText }),
  `WITH RECURSIVE tree AS (
     SELECT $2::uuid AS id
     UNION ALL
     SELECT r.id FROM runs r JOIN tree ON r.parent_run_id = tree.id WHERE r.organization_id = $1
   )
   SELECT e.run_id AS "runId", -sum(e.amount) FILTER (WHERE e.kind = 'charge') AS charged
   FROM tree JOIN credit_entries e ON e.run_id = tree.id AND e.organization_id = $1
   GROUP BY e.run_id
   HAVING sum(e.amount) FILTER (WHERE e.kind = 'charge') < 0 AND NOT bool_or(e.kind = 'refund')
   ORDER BY min(e.sequence)`,
);
const FIND_RUN = defineQuery(
  "find-run-to-refund",
  z.object({ ended: z.boolean(), isDeleted: z.boolean() }),
  `SELECT finished_at IS NOT NULL AS ended, false AS "isDeleted" FROM runs WHERE organization_id = $1 AND id = $2
   UNION ALL SELECT true, true FROM credit_entries WHERE organization_id = $1 AND run_id = $2 LIMIT 1`,
);

/** Locks the organization. */
async function findRefundable(
  client: Queryable,
  orgId: OrgId,
  { runId, note }: { runId: string; note: string },
): Promise<LedgerEntry[]> {
  // Concurrent refunds run one after the other; the later one finds nothing to refund.
  await lockOrganization(client, [orgId]);
  const charges = await CHARGES(client, [orgId, runId]);
  return charges.map(({ runId, charged }) => ({ kind: "refund", amount: charged, runId, note }));
}

const refund = z.object({
  runId: idInput("is not a run id"),
  note: z.string().trim().min(1, "must give a reason").max(1_000),
});

/**
 * Refunds an ended run and its child runs in the ledger, for the operator only, once per run. Returns the refunded
 * amount and the new balance. `isDeleted`: after the run's retention, its child runs are unknown and not refunded.
 * Throws `not_found`, `invalid_request`.
 */
export async function refundRun(
  services: Pick<Services, "pool" | "clock">,
  actor: OperatorActor,
  input: z.input<typeof refund>,
): Promise<{ refunded: Decimal; balance: Decimal; isDeleted: boolean }> {
  const { runId, note } = parseInput(refund, input);
  return transact(services.pool, async (client) => {
    const [run] = await FIND_RUN(client, [actor.orgId, runId]);
    if (run === undefined) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
    if (!run.ended)
      throw new AppError("invalid_request", "The run has not ended, so nothing was charged yet.");
    const entries = await findRefundable(client, actor.orgId, { runId, note });
    if (entries.length === 0) {
      const message = "There is nothing to refund: the run was not charged, or was refunded before.";
      throw new AppError("invalid_request", message);
    }
    const by = { actor: actorReference(actor), clock: services.clock };
    const balance = await postEntries(client, actor.orgId, { entries, ...by });
    const refunded = entries.reduce((sum, { amount }) => sum.add(amount), ZERO);
    return { refunded, balance, isDeleted: run.isDeleted };
  });
}
