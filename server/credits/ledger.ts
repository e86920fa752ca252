import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { Decimal, decimalText, toLedger } from "@/server/base/amount";
import type { Clock } from "@/server/base/clock";
import { defineCommand, defineQuery, type Queryable } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import type { CreditEntryKind } from "@/server/contract/enums";

/**
 * The append-only ledger: the balance is always the sum of all entries. A start holds credits; a run's end releases
 * the hold and charges the usage.
 */

export type LedgerEntry = {
  kind: CreditEntryKind;
  amount: Decimal;
  runId: string | null;
  note: string;
};

/** Locks the organization $1 until the transaction ends, for decisions that depend on its ledger. */
export const lockOrganization = defineQuery(
  "lock-organization",
  z.object({}),
  "SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE",
);
const ADD_TO_BALANCE = defineQuery(
  "add-to-balance",
  z.object({ balance: decimalText, sequence: z.number() }),
  `UPDATE organizations SET balance = balance + $2::numeric, ledger_sequence = ledger_sequence + $3, updated_at = $4
   WHERE id = $1 RETURNING balance::text AS balance, ledger_sequence::float8 AS sequence`,
);
const INSERT = defineCommand(
  "insert-credit-entries",
  `INSERT INTO credit_entries
     (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
   SELECT $1, e.sequence, e.kind::credit_entry_kind, e.amount, e.before, e.after, e.run_id, e.note, $2, $3
   FROM unnest($4::bigint[], $5::text[], $6::numeric[], $7::numeric[], $8::numeric[], $9::uuid[], $10::text[])
     AS e (sequence, kind, amount, before, after, run_id, note)`,
);

/**
 * Posts entries in order and adds their sum to the balance, in the caller's transaction. The database rejects a
 * negative balance. Returns the new balance.
 */
export async function postEntries(
  client: Queryable,
  orgId: OrgId,
  { entries, actor, clock }: { entries: LedgerEntry[]; actor: string; clock: Clock },
): Promise<Decimal> {
  const sum = entries.reduce((total, entry) => total.add(entry.amount), new Decimal(0));
  const now = clock.now();
  const [row] = await ADD_TO_BALANCE(client, [orgId, sum.toFixed(4), entries.length, now]);
  if (row === undefined) throw new AppError("not_found", "Organization not found.");
  let balance = row.balance.sub(sum);
  let sequence = row.sequence - entries.length;
  const lines = entries.map((entry) => {
    const before = balance;
    balance = balance.add(entry.amount);
    sequence += 1;
    return { ...entry, before, after: balance, sequence };
  });
  const amounts = (read: (line: (typeof lines)[number]) => Decimal) =>
    lines.map((line) => read(line).toFixed(4));
  await INSERT(client, [
    orgId,
    actor,
    now,
    lines.map((line) => line.sequence),
    lines.map((line) => line.kind),
    amounts((line) => line.amount),
    amounts((line) => line.before),
    amounts((line) => line.after),
    lines.map((line) => line.runId),
    lines.map((line) => line.note),
  ]);
  return balance;
}

/** Grants credits to an organization. `amount` has at most four places and is above zero. Returns the new balance. */
export async function grantCredits(
  client: Queryable,
  grant: { orgId: OrgId; amount: Decimal; note: string; actor: string; clock: Clock },
): Promise<Decimal> {
  if (grant.amount.lte(0) || !toLedger(grant.amount).eq(grant.amount)) {
    throw new AppError("invalid_request", "The amount must be above zero with at most four decimal places.");
  }
  const entry: LedgerEntry = { kind: "grant", amount: grant.amount, runId: null, note: grant.note };
  return postEntries(client, grant.orgId, { entries: [entry], actor: grant.actor, clock: grant.clock });
}
