import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { isNotFound } from "@/app/request";
import { isUuid } from "@/server/ids";
import { recentRunsQuery, versionsQuery } from "../../_definitions/query";
import { ToolView } from "./tool-view";

export const metadata: Metadata = { title: "Tool" };

export default async function ToolPage({ params }: { params: Promise<{ toolId: string }> }) {
  const { toolId } = await params;
  if (!isUuid(toolId)) notFound();
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await queryClient.fetchQuery(trpc.definitions.tool.queryOptions({ toolId })).catch((error: unknown) => {
    if (isNotFound(error)) notFound();
    throw error;
  });
  const of = { kind: "tool", id: toolId } as const;
  await Promise.all([
    queryClient.prefetchQuery(recentRunsQuery(trpc, of)),
    queryClient.prefetchInfiniteQuery(versionsQuery(trpc, of)),
  ]);
  return (
    <Prefetched from={prefetch}>
      <ToolView toolId={toolId} />
    </Prefetched>
  );
}
