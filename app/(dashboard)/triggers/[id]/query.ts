import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import { DELIVERY_OUTCOMES, type DeliveryOutcomeName } from "@/server/contract/enums";

/** The outcome in the URL; null for all. */
export function readOutcome(text: string | null | undefined): DeliveryOutcomeName | null {
  return DELIVERY_OUTCOMES.find((outcome) => outcome === text) ?? null;
}

/** The deliveries of a trigger as an infinite query, used on the server and in the browser. */
export function deliveriesQuery(
  trpc: TRPCOptionsProxy<DashboardRouter>,
  triggerId: string,
  outcome: DeliveryOutcomeName | null,
) {
  return trpc.triggers.deliveries.infiniteQueryOptions(
    { triggerId, limit: 50, ...(outcome ? { outcome } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
