import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";

/** The audit log as an infinite query, used on the server and in the browser. */
export function auditQuery(trpc: TRPCOptionsProxy<DashboardRouter>) {
  return trpc.organization.audit.infiniteQueryOptions(
    { limit: 50 },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
