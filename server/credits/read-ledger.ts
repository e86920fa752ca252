import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/auth/actor";
import { nameActors } from "@/server/auth/name-actors";
import type { CreditEntryKind } from "@/server/contract/enums";
import { Decimal } from "@/server/credits/amount";
import type { Page } from "@/server/page";
import type { Services } from "@/server/services";

/** Amounts are decimal strings with four places. */
export type Balance = {
  /** What can be spent. */
  available: string;
  /** What open runs hold; not part of `available`. */
  held: string;
  openRuns: number;
  /** The plan's monthly grant; "0.0000" for none. */
  monthly: string;
};

const openRow = z.tuple([z.object({ held: z.string(), runs: z.number() })]);

/** The organization's balance and the holds of its open runs. */
export async function readBalance({ db }: Services, actor: MemberActor): Promise<Balance> {
  const [organization, open] = await Promise.all([
    db.organization.findUniqueOrThrow({
      where: { id: actor.orgId },
      select: { balance: true, plan: { select: { monthlyCredits: true } } },
    }),
    // Statuses are literals: otherwise PostgreSQL does not use the partial index of open runs.
    db.$queryRaw`
      SELECT coalesce(sum(held), 0)::numeric(18, 4)::text AS held, count(*)::int AS runs FROM runs
      WHERE organization_id = ${actor.orgId}::uuid AND status IN ('Pending', 'Running')`,
  ]);
  const [{ held, runs: openRuns }] = openRow.parse(open);
  return {
    available: organization.balance.toFixed(4),
    held,
    openRuns,
    monthly: (organization.plan?.monthlyCredits ?? new Decimal(0)).toFixed(4),
  };
}

/** One ledger entry; `amount` is its effect on the balance. */
export type LedgerLine = {
  sequence: number;
  kind: CreditEntryKind;
  amount: string;
  before: string;
  after: string;
  runId: string | null;
  note: string;
  actor: string;
  createdAt: string;
};

export type LedgerPage = Page<LedgerLine, number>;

const isRare = (kind: CreditEntryKind) => kind === "grant" || kind === "refund" || kind === "adjustment";

/**
 * The numbers of a page of entries of a rare kind, read from its partial index. The kinds are literals, because
 * PostgreSQL does not match a parameter with the index.
 */
async function findRare(
  { db }: Services,
  orgId: OrgId,
  { kind, before, limit }: { kind: CreditEntryKind; before: number | undefined; limit: number },
): Promise<number[]> {
  const found = await db.$queryRaw`
    SELECT sequence FROM credit_entries
    WHERE organization_id = ${orgId}::uuid AND kind IN ('grant', 'refund', 'adjustment')
      AND kind = ${kind}::credit_entry_kind AND sequence < ${before ?? 2 ** 31 - 1}
    ORDER BY sequence DESC LIMIT ${limit}`;
  return z
    .array(z.object({ sequence: z.number() }))
    .parse(found)
    .map(({ sequence }) => sequence);
}

/** The kinds of entries that change for good what an organization owns. Holds and releases cancel each other out. */
const NET_KINDS = ["grant", "charge", "refund", "adjustment"] satisfies CreditEntryKind[];

/**
 * The organization's ledger, newest first, paged by entry number.
 * @param question.holds whether to include what is held for open runs and released when they end
 */
export async function listLedger(
  services: Services,
  actor: MemberActor,
  {
    kind,
    holds,
    before,
    limit,
  }: {
    kind?: CreditEntryKind | undefined;
    holds: boolean;
    before?: number | undefined;
    limit: number;
  },
): Promise<LedgerPage> {
  const rows = await services.db.creditEntry.findMany({
    where: {
      organizationId: actor.orgId,
      ...(kind ? { kind } : holds ? {} : { kind: { in: NET_KINDS } }),
      ...(before === undefined ? {} : { sequence: { lt: before } }),
      ...(kind && isRare(kind)
        ? { sequence: { in: await findRare(services, actor.orgId, { kind, before, limit: limit + 1 }) } }
        : {}),
    },
    orderBy: { sequence: "desc" },
    take: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const nameOf = await nameActors(
    services,
    actor.orgId,
    shown.map((row) => row.actor),
  );
  return {
    items: shown.map((row) => ({
      sequence: row.sequence,
      kind: row.kind,
      amount: row.amount.toFixed(4),
      before: row.balanceBefore.toFixed(4),
      after: row.balanceAfter.toFixed(4),
      runId: row.runId,
      note: row.note,
      actor: nameOf(row.actor),
      createdAt: row.createdAt.toISOString(),
    })),
    nextCursor: rows.length > limit ? (shown.at(-1)?.sequence ?? null) : null,
  };
}
