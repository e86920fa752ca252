import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** The filters of the list of deliveries. */
export const OUTCOMES = ["accepted", "repeated", "rejected"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The outcome in the URL; null for all. */
export function readOutcome(text: string | null | undefined): Outcome | null {
  return OUTCOMES.find((outcome) => outcome === text) ?? null;
}

/** The deliveries of a trigger as an infinite query, used on the server and in the browser. */
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
