import { FairQueue } from "@/server/base/scheduling/fair-queue";
import type { Queryable } from "./statement";

/** Executes at most `atOnce` statements at a time, organizations in turn, so that they don't take all connections. */
export function limitStatements(pool: Queryable, atOnce: number): (organizationId: string) => Queryable {
  const queue = new FairQueue(atOnce, atOnce);
  return (organizationId) => ({
    query: (statement) => queue.take(organizationId, () => pool.query(statement)),
  });
}
