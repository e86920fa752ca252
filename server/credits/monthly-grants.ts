import { mintOrgId } from "@/server/auth/mint-org-id";
import { transact } from "@/server/db/transaction";
import type { Services } from "@/server/services";
import { Decimal } from "./amount";
import { postEntries } from "./ledger";

/**
 * Grants every organization its plan's monthly credits, once a month across all processes; they add to the remaining
 * balance. A suspended organization gets them if it is resumed within the month. A plan changed after the grant applies
 * from the next month. Returns how many organizations got a grant.
 */
export async function grantMonthlyCredits(
  services: Pick<Services, "pool" | "clock" | "log">,
): Promise<number> {
  const { pool, clock, log } = services;
  /** In UTC, `YYYY-MM`. */
  const month = clock.now().toISOString().slice(0, 7);
  const due = await pool.query<{ id: string }>(
    `SELECT p.organization_id AS id FROM plans p JOIN organizations o ON o.id = p.organization_id
     WHERE p.monthly_credits > 0 AND (p.granted_month IS NULL OR p.granted_month < $1) AND o.suspended_at IS NULL
     ORDER BY p.organization_id`,
    [month],
  );
  let granted = 0;
  for (const { id } of due.rows) {
    const done = await transact(pool, async (client) => {
      // Locks the organization first, in the same order as changes of its plan.
      await client.query("SELECT 1 FROM organizations WHERE id = $1 FOR UPDATE", [id]);
      const { rows } = await client.query<{ amount: string }>(
        `UPDATE plans SET granted_month = $2
         WHERE organization_id = $1 AND monthly_credits > 0 AND (granted_month IS NULL OR granted_month < $2)
         RETURNING monthly_credits AS amount`,
        [id, month],
      );
      if (rows[0] === undefined) return false;
      const amount = new Decimal(rows[0].amount);
      const entry = { kind: "grant", amount, runId: null, note: `Monthly credits for ${month}` } as const;
      await postEntries(client, mintOrgId(id), { entries: [entry], actor: "system", clock });
      return true;
    });
    if (done) granted += 1;
  }
  if (granted > 0) log.info("Granted monthly credits", { month, organizations: granted });
  return granted;
}
