import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { MetricsSubject } from "@/server/runs/read/metrics/metrics";

/** The versions of an agent or tool as an infinite query, used on the server and in the browser. */
export function versionsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, id }: DefinitionRef) {
  return trpc.definitions.versions.infiniteQueryOptions(
    { kind, id, limit: 20 },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}

export function recentRunsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, id }: DefinitionRef) {
  return trpc.runs.list.queryOptions({
    filter: kind === "agent" ? { agentId: id } : { toolId: id },
    limit: 8,
  });
}

export type WeekSubject = { kind: MetricsSubject["dimension"]; id: string };

export function weekQuery(trpc: TRPCOptionsProxy<DashboardRouter>, { kind, id }: WeekSubject) {
  return trpc.runs.metrics.queryOptions({
    period: "7d",
    interval: "1d",
    subject: { dimension: kind, id },
  });
}
