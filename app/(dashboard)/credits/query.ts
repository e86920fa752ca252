import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** The filters of the ledger. */
export const KINDS = ["grant", "hold", "charge", "release", "refund", "adjustment"] as const;
export type Kind = (typeof KINDS)[number];

/** The kind in the URL; null for all. */
export function readKind(text: string | null | undefined): Kind | null {
  return KINDS.find((kind) => kind === text) ?? null;
}

/** The ledger as an infinite query, used on the server and in the browser. */
export function ledgerQuery(trpc: TRPCOptionsProxy<DashboardRouter>, kind: Kind | null) {
  return trpc.credits.ledger.infiniteQueryOptions(
    { limit: 50, ...(kind ? { kind } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
