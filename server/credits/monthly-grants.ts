import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { decimalText } from "@/server/base/amount";
import { isUnavailable } from "@/server/base/db/outage";
import { defineQuery } from "@/server/base/db/statement";
import { transact } from "@/server/base/db/transaction";
import { mintOrgId } from "@/server/base/mint-org-id";
import type { Services } from "@/server/credits/services";
import { postEntries } from "./ledger";

const FIND_DUE = defineQuery(
  "find-due-monthly-grants",
  z.object({ id: z.string().transform(mintOrgId) }),
  `SELECT p.organization_id AS id FROM plans p JOIN organizations o ON o.id = p.organization_id
   WHERE p.monthly_credits > 0 AND (p.granted_month IS NULL OR p.granted_month < $1) AND o.suspended_at IS NULL
   ORDER BY p.organization_id`,
);
const MARK_GRANTED = defineQuery(
  "mark-monthly-grant",
  z.object({ amount: decimalText }),
  `UPDATE plans SET granted_month = $2
   WHERE organization_id = $1 AND monthly_credits > 0 AND (granted_month IS NULL OR granted_month < $2)
   RETURNING monthly_credits AS amount`,
);

/**
 * Grants every organization its plan's monthly credits, once a month across all processes. A suspended organization
 * gets them if it is resumed within the month; a changed plan applies from the next month. Returns how many
 * organizations got a grant. One that fails, such as one that is locked for long, keeps no other one from its grant; the
 * first error is thrown at the end. Ends early if the database is unavailable, or if `shouldContinue` returns false.
 */
export async function grantMonthlyCredits(
  services: Pick<Services, "pool" | "clock" | "log">,
  shouldContinue: () => boolean = () => true,
): Promise<number> {
  const { pool, clock, log } = services;
  const month = clock.now().toISOString().slice(0, 7);
  let granted = 0;
  const errors: unknown[] = [];
  const grant = (id: OrgId) =>
    transact(pool, async (client) => {
      // Locks the plan first and the organization last, in the same order as definition files.
      const [marked] = await MARK_GRANTED(client, [id, month]);
      if (marked === undefined) return false;
      const entry = { kind: "grant", ...marked, runId: null, note: `Monthly credits for ${month}` } as const;
      await postEntries(client, id, { entries: [entry], actor: "system", clock });
      return true;
    });
  for (const { id } of await FIND_DUE(pool, [month])) {
    if (!shouldContinue()) break;
    try {
      if (await grant(id)) granted += 1;
    } catch (error) {
      errors.push(error);
      log.warn("Could not grant an organization's monthly credits", { organization: id, error });
      if (isUnavailable(error)) break;
    }
  }
  if (granted > 0) log.info("Granted monthly credits", { month, organizations: granted });
  if (errors.length > 0) throw errors[0];
  return granted;
}
