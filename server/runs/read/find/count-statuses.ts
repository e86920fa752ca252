import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { select } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { LISTED_STATUSES, type ListedStatus, MAX_COUNTED_RUNS } from "../enums";
import type { RunFilter } from "./filter";
import { isWalkable, selectRunIds } from "./find";

const countRow = z.object({ status: z.enum(LISTED_STATUSES), runs: z.number() });

/**
 * Runs of each status that match a filter without its status, counted up to MAX_COUNTED_RUNS. Null if no index has
 * them in order.
 */
export async function countStatuses(
  services: Pick<Services, "clock" | "pool">,
  { orgId }: MemberActor,
  { filter }: { filter: RunFilter },
): Promise<Partial<Record<ListedStatus, number>> | null> {
  const statuses = LISTED_STATUSES.map((status) => ({ ...filter, status: [status] }));
  if (!statuses.every(isWalkable)) return null;
  const page = { limit: MAX_COUNTED_RUNS };
  const now = services.clock.now();
  const counts = statuses.map(
    (each) => Prisma.sql`
    SELECT ${each.status[0]}::text AS status, count(*)::int AS runs FROM (${selectRunIds(orgId, each, { page, now })}) found`,
  );
  const rows = await select(services.pool, countRow, Prisma.join(counts, " UNION ALL "));
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}
