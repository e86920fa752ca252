import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** What the list of deliveries can be narrowed to. */
export const OUTCOMES = ["accepted", "repeated", "rejected"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The outcome that an address names; null for all. */
export function readOutcome(text: string | null | undefined): Outcome | null {
  return OUTCOMES.find((outcome) => outcome === text) ?? null;
}

/** The deliveries of a trigger as an infinite query; the same on the server, for the first paint, and in the browser. */
export function deliveriesQuery(
  trpc: TRPCOptionsProxy<DashboardRouter>,
  triggerId: string,
  outcome: Outcome | null,
) {
  return trpc.triggers.deliveries.infiniteQueryOptions(
    { triggerId, limit: 50, ...(outcome ? { outcome } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
