import type { OrgId } from "@/server/auth/actor";
import type { Clock } from "@/server/clock";
import type { Statements } from "@/server/db/sql";
import { AppError } from "@/server/errors";
import { Decimal, toLedger } from "./amount";

/**
 * The append-only ledger. A start holds credits. A run's end releases the complete hold and charges the usage. So the
 * balance is always the sum of all entries. The engine's writer posts holds, charges and releases (flush_writes in the
 * baseline migration).
 */

export type LedgerEntry = {
  kind: "grant" | "hold" | "charge" | "release" | "refund" | "adjustment";
  /** The effect on the balance. */
  amount: Decimal;
  runId: string | null;
  note: string;
};

/**
 * Posts entries in order and adds their sum to the balance, in the caller's transaction. The database refuses a
 * negative balance. Returns the new balance.
 */
export async function postEntries(
  client: Statements,
  orgId: OrgId,
  { entries, actor, clock }: { entries: LedgerEntry[]; actor: string; clock: Clock },
): Promise<Decimal> {
  const sum = entries.reduce((total, entry) => total.add(entry.amount), new Decimal(0));
  const now = clock.now();
  const updated = await client.query<{ balance: string; sequence: number }>(
    `UPDATE organizations SET balance = balance + $2::numeric, ledger_sequence = ledger_sequence + $3, updated_at = $4
     WHERE id = $1 RETURNING balance, ledger_sequence AS sequence`,
    [orgId, sum.toFixed(4), entries.length, now],
  );
  const row = updated.rows[0];
  if (row === undefined) throw new AppError("not_found", "Organization not found.");
  let balance = new Decimal(row.balance).sub(sum);
  let sequence = row.sequence - entries.length;
  const lines = entries.map((entry) => {
    const before = balance;
    balance = balance.add(entry.amount);
    sequence += 1;
    return { ...entry, before, after: balance, sequence };
  });
  await client.query(
    `INSERT INTO credit_entries
       (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
     SELECT $1, e.sequence, e.kind::credit_entry_kind, e.amount, e.before, e.after, e.run_id, e.note, $2, $3
     FROM unnest($4::int[], $5::text[], $6::numeric[], $7::numeric[], $8::numeric[], $9::uuid[], $10::text[])
       AS e (sequence, kind, amount, before, after, run_id, note)`,
    [
      orgId,
      actor,
      now,
      lines.map((line) => line.sequence),
      lines.map((line) => line.kind),
      lines.map((line) => line.amount.toFixed(4)),
      lines.map((line) => line.before.toFixed(4)),
      lines.map((line) => line.after.toFixed(4)),
      lines.map((line) => line.runId),
      lines.map((line) => line.note),
    ],
  );
  return balance;
}

/** Grants credits to an organization. `amount` has at most four places and is above zero. Returns the new balance. */
export async function grantCredits(
  client: Statements,
  grant: { orgId: OrgId; amount: Decimal; note: string; actor: string; clock: Clock },
): Promise<Decimal> {
  if (grant.amount.lte(0) || !toLedger(grant.amount).eq(grant.amount)) {
    throw new AppError("invalid_request", "The amount must be above zero with at most four decimal places.");
  }
  const entry: LedgerEntry = { kind: "grant", amount: grant.amount, runId: null, note: grant.note };
  return postEntries(client, grant.orgId, { entries: [entry], actor: grant.actor, clock: grant.clock });
}
