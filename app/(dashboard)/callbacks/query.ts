import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** Deliveries have no events, so a visible page polls. */
export const REFRESH_MS = 5_000;

export type ShownState = "undelivered" | "delivered" | null;

export function readState(text: string | null | undefined): ShownState {
  return text === "undelivered" || text === "delivered" ? text : null;
}

/** Deliveries of one callback or of all as an infinite query, used on the server and in the browser. */
export function deliveriesQuery(
  trpc: TRPCOptionsProxy<DashboardRouter>,
  { callbackId, state }: { callbackId?: string; state: ShownState },
) {
  return trpc.callbacks.deliveries.infiniteQueryOptions(
    { limit: 50, ...(callbackId ? { callbackId } : {}), ...(state ? { state } : {}) },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
