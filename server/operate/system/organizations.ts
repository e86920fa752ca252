import { z } from "zod";
import { defineQuery, type Queryable } from "@/server/base/db/statement";

const SHOWN = 5;

const COUNT = defineQuery(
  "count-organizations",
  z.object({ organizations: z.number(), suspended: z.number(), running: z.number() }),
  `SELECT count(*)::int AS organizations, count(suspended_at)::int AS suspended,
          coalesce(sum(in_flight), 0)::int AS running FROM organizations`,
);
const LIST_BUSIEST = defineQuery(
  "list-busiest-organizations",
  z.object({ slug: z.string(), name: z.string(), running: z.number(), most: z.number() }),
  `SELECT o.slug, o.name, o.in_flight AS running, p.concurrency AS most
   FROM organizations o JOIN plans p ON p.organization_id = o.id
   WHERE o.in_flight > 0 ORDER BY o.in_flight DESC, o.slug LIMIT ${SHOWN}`,
);

/** Counts of organizations: all that an operator sees of those to which they don't belong. */
export async function countOrganizations(client: Queryable) {
  const [[counts], busiest] = await Promise.all([COUNT(client), LIST_BUSIEST(client)]);
  return { ...(counts ?? { organizations: 0, suspended: 0, running: 0 }), busiest };
}
