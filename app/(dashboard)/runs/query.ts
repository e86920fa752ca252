import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { DefinitionRef } from "@/server/catalog/definition-rows";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";
import type { MetricsSubject } from "@/server/runs/read/metrics/metrics";

const PAGE_SIZE = 50;

/** The runs list as an infinite query, used on the server and in the browser. */
export function runsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, filter: RunFilter) {
  return trpc.runs.list.infiniteQueryOptions(
    { filter, limit: PAGE_SIZE },
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

export function targetPath(run: Pick<RunDetail, "kind" | "agentId" | "toolId">): string {
  return `/${run.kind}s/${run.agentId ?? run.toolId}`;
}

export function sameTarget(run: Pick<RunDetail, "agentId" | "toolId">): RunFilter {
  return run.agentId ? { agentId: run.agentId } : { toolId: run.toolId ?? "" };
}
