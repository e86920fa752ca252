import { z } from "zod";
import type { Actor, OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { Prisma } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { toPlainData } from "@/server/base/db/plain-data";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { nameActors } from "@/server/base/name-actors";
import type { CreditEntryKind } from "@/server/contract/enums";
import type { Services } from "@/server/credits/services";

const SUM_HELD = defineQuery(
  "sum-held-credits",
  z.object({ held: z.string(), openRuns: z.number() }),
  `SELECT coalesce(sum(held), 0)::numeric(18, 4)::text AS held, count(*) FILTER (WHERE parent_run_id IS NULL)::int AS "openRuns" FROM runs
   WHERE organization_id = $1 AND ${isOpenSql()}`,
);

/**
 * The organization's balance, as decimals with four places. The available amount excludes the holds of open runs.
 * `monthly` is the plan's grant.
 */
export async function readBalance({ db, pool }: Pick<Services, "db" | "pool">, actor: Pick<Actor, "orgId">) {
  const [organization, [open]] = await Promise.all([
    db.organization.findUniqueOrThrow({
      where: { id: actor.orgId },
      select: { balance: true, plan: { select: { monthlyCredits: true } } },
    }),
    SUM_HELD(pool, [actor.orgId]),
  ]);
  if (open === undefined) throw new Error("the sum of the held credits gave no row");
  return {
    available: organization.balance.toFixed(4),
    ...open,
    monthly: (organization.plan?.monthlyCredits ?? new Decimal(0)).toFixed(4),
  };
}

export type LedgerLine = Awaited<ReturnType<typeof listLedger>>["items"][number];

/** Of them, an organization may have few among millions of holds and releases: if its models cost nothing. */
const NET_KINDS: readonly CreditEntryKind[] = ["grant", "charge", "refund", "adjustment"];

// The kinds are literals, too, because PostgreSQL matches a partial index only with literals. The index has the newest
// entries of each kind.
const FIND_OF_KINDS = defineQuery(
  "find-net-credit-entries",
  z.object({ sequence: z.number() }),
  `SELECT sequence::float8 AS sequence FROM unnest($2::credit_entry_kind[]) AS wanted CROSS JOIN LATERAL (
     SELECT sequence FROM credit_entries
     WHERE organization_id = $1 AND kind IN ('grant', 'charge', 'refund', 'adjustment') AND kind = wanted AND sequence < $3
     ORDER BY sequence DESC LIMIT $4) newest
   ORDER BY sequence DESC LIMIT $4`,
);

type LedgerQuestion = PageRequest<number> & {
  kind?: CreditEntryKind | undefined;
  holds: boolean;
};

async function conditionsOf(
  { pool }: Pick<Services, "pool">,
  orgId: OrgId,
  { kind, holds, cursor, limit }: LedgerQuestion,
): Promise<Prisma.CreditEntryWhereInput> {
  const kinds = kind === undefined ? NET_KINDS : [kind];
  if (kind === undefined ? !holds : NET_KINDS.includes(kind)) {
    const found = await FIND_OF_KINDS(pool, [orgId, kinds, cursor ?? Number.MAX_SAFE_INTEGER, limit + 1]);
    return { sequence: { in: found.map(({ sequence }) => sequence) } };
  }
  const conditions: Prisma.CreditEntryWhereInput = {};
  if (kind !== undefined) conditions.kind = kind;
  if (cursor) conditions.sequence = { lt: cursor };
  return conditions;
}

/** The organization's ledger, newest first, paged by entry number. */
export async function listLedger(
  services: Pick<Services, "db" | "pool">,
  { orgId }: Pick<Actor, "orgId">,
  question: LedgerQuestion,
) {
  const { limit } = question;
  const found = await services.db.creditEntry.findMany({
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
  const rows = found.map(({ sequence, ...line }) => ({ sequence: Number(sequence), ...line }));
  const { items, nextCursor } = pageOf(rows, limit, "sequence");
  const actors = items.map(({ actor }) => actor);
  const nameOf = await nameActors(services, orgId, actors);
  return {
    items: toPlainData(items).map(({ balanceBefore, balanceAfter, ...line }) => ({
      ...line,
      before: balanceBefore,
      after: balanceAfter,
      actor: nameOf(line.actor),
    })),
    nextCursor,
  };
}
