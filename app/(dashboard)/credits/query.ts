import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { CREDIT_ENTRY_KINDS, type CreditEntryKind } from "@/server/contract/enums";

/** The filter of entries: one kind or all, and whether holds and their releases are among all. */
export type LedgerQuestion = { kind: CreditEntryKind | null; holds: boolean };

/** Reads the question from the URL, `?kind=grant` or `?holds=shown`, and ignores invalid values. */
export function readLedgerAddress(params: Pick<URLSearchParams, "get">): LedgerQuestion {
  const kind = CREDIT_ENTRY_KINDS.find((each) => each === params.get("kind")) ?? null;
  return { kind, holds: params.get("holds") === "shown" };
}

export function writeLedgerAddress({ kind, holds }: LedgerQuestion): string {
  const params = new URLSearchParams({ ...(kind ? { kind } : {}), ...(holds ? { holds: "shown" } : {}) });
  return params.size > 0 ? `/credits?${params}` : "/credits";
}

/** The ledger as an infinite query, used on the server and in the browser. */
export function ledgerQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, holds }: LedgerQuestion) {
  return trpc.credits.ledger.infiniteQueryOptions(
    { limit: 50, holds, ...(kind ? { kind } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
