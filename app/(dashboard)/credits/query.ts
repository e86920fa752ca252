import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { CREDIT_ENTRY_KINDS, type CreditEntryKind } from "@/server/contract/enums";

/** The kind in the URL; null for all. */
export function readKind(text: string | null | undefined): CreditEntryKind | null {
  return CREDIT_ENTRY_KINDS.find((kind) => kind === text) ?? null;
}

/** The ledger as an infinite query, used on the server and in the browser. */
export function ledgerQuery(trpc: TRPCOptionsProxy<DashboardRouter>, kind: CreditEntryKind | null) {
  return trpc.credits.ledger.infiniteQueryOptions(
    { limit: 50, ...(kind ? { kind } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
