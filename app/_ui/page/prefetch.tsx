import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import type { ReactNode } from "react";
import { createQueryClient } from "@/app/_ui/data/query-client";
import { requirePageMember } from "@/app/request";
import { getServices } from "@/process-services";
import { dashboardRouter } from "@/server/api/dashboard/router";
import { isFaultOfCaller } from "@/server/errors";
import { newId } from "@/server/ids";

/** On the server: the member, a query client for one page, and the tRPC procedures as query options without HTTP. */
export async function createPrefetch() {
  const { actor, session } = await requirePageMember();
  const queryClient = createQueryClient(isFaultOfCaller);
  const trpc = createTRPCOptionsProxy({
    router: dashboardRouter,
    ctx: { services: getServices(), actor, requestId: newId(), sessionId: session.user.sessionId },
    queryClient,
  });
  return { queryClient, trpc, actor, session };
}

type PrefetchedProps = { from: { queryClient: ReturnType<typeof createQueryClient> }; children: ReactNode };

/** Passes what was fetched on the server to the client components inside. */
export function Prefetched({ from, children }: PrefetchedProps) {
  return <HydrationBoundary state={dehydrate(from.queryClient)}>{children}</HydrationBoundary>;
}
