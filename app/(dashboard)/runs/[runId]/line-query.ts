import type { QueryClient } from "@tanstack/react-query";
import type { TRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { DashboardRouter } from "@/server/api/dashboard/router";
import type { Line } from "./lines";

/** Fetches the details that the inspector shows of a line. Waits and groups have none. */
export async function prefetchLine(
  { queryClient, trpc }: { queryClient: QueryClient; trpc: TRPCOptionsProxy<DashboardRouter> },
  line: Line,
): Promise<void> {
  const { runId } = line;
  const work = line.kind === "attempt" ? line.of : line;
  if (work.kind === "step") {
    await queryClient.prefetchQuery(trpc.runs.step.queryOptions({ runId, stepId: work.id }));
  } else if (work.kind === "call") {
    await queryClient.prefetchQuery(trpc.runs.modelCall.queryOptions({ runId, callId: work.id }));
  }
}
