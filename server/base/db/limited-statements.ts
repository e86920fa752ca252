import { perOwner } from "@/server/base/per-owner";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import type { Queryable } from "./statement";

/** Executes at most `atOnce` statements at a time, owners in turn, so that they don't take all connections. */
export function limitStatements(pool: Queryable, atOnce: number): (owner: string) => Queryable {
  const queue = new FairQueue(atOnce, atOnce);
  return (owner) => ({
    query: (statement) => queue.take(owner, () => pool.query(statement)),
  });
}

/** Looks up keys and tokens, which strangers may invent, for addresses in turn. */
export const lookupsOf = perOwner((pool: Queryable) => limitStatements(pool, 4));
