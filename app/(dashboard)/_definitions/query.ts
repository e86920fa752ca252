import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { DefinitionRef } from "@/server/catalog/definition-rows";

/** The versions of an agent or tool as an infinite query, used on the server and in the browser. */
export function versionsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, id }: DefinitionRef) {
  return trpc.definitions.versions.infiniteQueryOptions(
    { kind, id, limit: 20 },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}
