import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/auth/actor";
import { nameActors } from "@/server/auth/name-actors";
import type { CreditEntryKind } from "@/server/contract/enums";
import { Decimal } from "@/server/credits/amount";
import { Prisma } from "@/server/db/generated/client";
import type { PageRequest } from "@/server/db/page";
import { toPlainData } from "@/server/db/plain-data";
import { isOpenSql } from "@/server/db/statement";
import type { Services } from "@/server/services";

const openRow = z.tuple([z.object({ held: z.string(), runs: z.number() })]);

/**
 * The organization's balance, as decimals with four places. The available amount excludes the holds of open runs.
 * `monthly` is the plan's grant.
 */
export async function readBalance({ db }: Services, actor: MemberActor) {
  const [organization, open] = await Promise.all([
    db.organization.findUniqueOrThrow({
      where: { id: actor.orgId },
      select: { balance: true, plan: { select: { monthlyCredits: true } } },
    }),
    // Statuses are literals: otherwise PostgreSQL does not use the partial index of open runs.
    db.$queryRaw`
      SELECT coalesce(sum(held), 0)::numeric(18, 4)::text AS held, count(*)::int AS runs FROM runs
      WHERE organization_id = ${actor.orgId}::uuid AND ${Prisma.raw(isOpenSql())}`,
  ]);
  const [{ held, runs: openRuns }] = openRow.parse(open);
  return {
    available: organization.balance.toFixed(4),
    held,
    openRuns,
    monthly: (organization.plan?.monthlyCredits ?? new Decimal(0)).toFixed(4),
  };
}

export type LedgerLine = Awaited<ReturnType<typeof listLedger>>["items"][number];

const isRare = (kind: CreditEntryKind) => kind === "grant" || kind === "refund" || kind === "adjustment";

/**
 * The numbers of a page of entries of a rare kind, read from its partial index. The kinds are literals, because
 * PostgreSQL does not match a parameter with the index.
 */
async function findRare(
  { db }: Services,
  orgId: OrgId,
  { kind, cursor, limit }: PageRequest<number> & { kind: CreditEntryKind },
): Promise<number[]> {
  const found = await db.$queryRaw`
    SELECT sequence FROM credit_entries
    WHERE organization_id = ${orgId}::uuid AND kind IN ('grant', 'refund', 'adjustment')
      AND kind = ${kind}::credit_entry_kind AND sequence < ${cursor ?? 2 ** 31 - 1}
    ORDER BY sequence DESC LIMIT ${limit}`;
  return z
    .array(z.object({ sequence: z.number() }))
    .parse(found)
    .map(({ sequence }) => sequence);
}

/** The kinds of entries that change for good what an organization owns. Holds and releases cancel each other out. */
const NET_KINDS = ["grant", "charge", "refund", "adjustment"] satisfies CreditEntryKind[];

type LedgerQuestion = PageRequest<number> & {
  kind?: CreditEntryKind | undefined;
  /** Whether to include the holds of open runs and their releases. */
  holds: boolean;
};

/** Which entries a page shows. */
async function conditionsOf(
  services: Services,
  orgId: OrgId,
  { kind, holds, cursor, limit }: LedgerQuestion,
): Promise<Prisma.CreditEntryWhereInput> {
  if (kind !== undefined && isRare(kind)) {
    const sequences = await findRare(services, orgId, { kind, cursor, limit: limit + 1 });
    return { kind, sequence: { in: sequences } };
  }
  const conditions: Prisma.CreditEntryWhereInput = {};
  if (kind !== undefined) conditions.kind = kind;
  else if (!holds) conditions.kind = { in: NET_KINDS };
  if (cursor) conditions.sequence = { lt: cursor };
  return conditions;
}

/** The organization's ledger, newest first, paged by entry number. */
export async function listLedger(services: Services, { orgId }: MemberActor, question: LedgerQuestion) {
  const { limit } = question;
  const rows = await services.db.creditEntry.findMany({
    where: { organizationId: orgId, ...(await conditionsOf(services, orgId, question)) },
    orderBy: { sequence: "desc" },
    take: limit + 1,
    select: {
      sequence: true,
      kind: true,
      amount: true,
      balanceBefore: true,
      balanceAfter: true,
      runId: true,
      note: true,
      actor: true,
      createdAt: true,
    },
  });
  const shown = rows.slice(0, limit);
  const actors = shown.map(({ actor }) => actor);
  const nameOf = await nameActors(services, orgId, actors);
  return {
    items: toPlainData(shown).map(({ balanceBefore, balanceAfter, ...line }) => ({
      ...line,
      before: balanceBefore,
      after: balanceAfter,
      actor: nameOf(line.actor),
    })),
    nextCursor: rows.length > limit ? (shown.at(-1)?.sequence ?? null) : null,
  };
}
