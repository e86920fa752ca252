import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { RunFilter } from "@/server/runs/read/find/filter";
import type { RunDetail } from "@/server/runs/read/inspect/inspect";

const PAGE_SIZE = 50;

/** The runs list as an infinite query, used on the server and in the browser. */
export function runsQuery(trpc: TRPCOptionsProxy<DashboardRouter>, filter: RunFilter) {
  return trpc.runs.list.infiniteQueryOptions(
    { filter, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.nextCursor, initialCursor: null },
  );
}

export function targetPath(run: Pick<RunDetail, "kind" | "agentId" | "toolId">): string {
  return `/${run.kind}s/${run.agentId ?? run.toolId}`;
}

export function sameTarget(run: Pick<RunDetail, "agentId" | "toolId">): RunFilter {
  return run.agentId ? { agentId: run.agentId } : { toolId: run.toolId ?? "" };
}
