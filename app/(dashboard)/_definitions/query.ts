import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { DefinitionRef } from "@/server/catalog/versions";

/** The versions of an agent or tool as an infinite query, used on the server and in the browser. */
export function versionsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, of: DefinitionRef) {
  return trpc.definitions.versions.infiniteQueryOptions(
    { ...of, limit: 20 },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}

export function recentRunsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, id }: DefinitionRef) {
  return trpc.runs.list.queryOptions({
    filter: kind === "agent" ? { agentId: id } : { toolId: id },
    limit: 8,
  });
}
