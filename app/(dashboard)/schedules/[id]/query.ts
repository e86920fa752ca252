import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** The ticks of a schedule as an infinite query, used on the server and in the browser. */
export function ticksQuery(trpc: TRPCOptionsProxy<DashboardRouter>, scheduleId: string) {
  return trpc.schedules.ticks.infiniteQueryOptions(
    { scheduleId, limit: 50 },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
