import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { defineQuery, isOpenSql } from "@/server/base/db/statement";
import { OPEN_STATUSES, type RunStatus } from "@/server/contract/enums";
import type { Services } from "@/server/services";

// Materialized: PostgreSQL would read ended runs by the primary key until it has found as many as the limit.
const FIND_NEWEST_OPEN = defineQuery(
  "find-newest-open-runs",
  z.object({ id: z.string() }),
  `WITH open AS MATERIALIZED (
     SELECT id FROM runs
     WHERE ${isOpenSql()} AND status = $1::run_status AND ($2::uuid IS NULL OR organization_id = $2))
   SELECT id FROM open ORDER BY id DESC LIMIT $3`,
);

type Wanted = { orgId: OrgId | null; status: RunStatus | null; limit: number };

/** The newest runs, of all organizations if `orgId` is null. For the operator only. */
export async function listNewestRuns(
  { db, pool }: Pick<Services, "db" | "pool">,
  { orgId, status, limit }: Wanted,
) {
  const isOpen = OPEN_STATUSES.some((open) => open === status);
  const open = isOpen ? await FIND_NEWEST_OPEN(pool, [status, orgId, limit]) : null;
  return db.run.findMany({
    where: {
      ...(orgId !== null && { organizationId: orgId }),
      ...(status !== null && { status }),
      ...(open !== null && { id: { in: open.map(({ id }) => id) } }),
    },
    orderBy: { id: "desc" },
    take: limit,
    include: { organization: { select: { slug: true } } },
  });
}
