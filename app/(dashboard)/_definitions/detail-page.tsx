import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { DetailHeadSkeleton, LinesSkeleton } from "@/app/_ui/page/skeletons";
import { isUuid } from "@/server/ids";
import { orNotFound, streamed } from "../content-page";
import { recentRunsQuery, versionsQuery, weekQuery } from "./query";

type Prefetch = Awaited<ReturnType<typeof createPrefetch>>;

/** The page of an agent or tool, which `render` reads. Unknown ids show the not-found page. */
export function detailPage(
  kind: "agent" | "tool",
  render: (prefetch: Prefetch, id: string) => Promise<ReactNode>,
) {
  async function content(params: Promise<{ id: string }>) {
    const { id } = await params;
    if (!isUuid(id)) notFound();
    const prefetch = await createPrefetch();
    const { queryClient, trpc } = prefetch;
    const page = await orNotFound(render(prefetch, id));
    await Promise.all([
      queryClient.prefetchQuery(recentRunsQuery(trpc, { kind, id })),
      queryClient.prefetchQuery(weekQuery(trpc, { kind, id })),
      queryClient.prefetchInfiniteQuery(versionsQuery(trpc, { kind, id })),
    ]);
    return <Prefetched from={prefetch}>{page}</Prefetched>;
  }
  return ({ params }: { params: Promise<{ id: string }> }) =>
    streamed(
      () => content(params),
      <>
        <DetailHeadSkeleton back={kind === "agent" ? "Agents" : "Tools"} />
        <div className="h-51 border-line border-t bg-surface lg:w-108 lg:border-r" />
        <div className="grid border-line border-t xl:grid-cols-[minmax(0,1fr)_24rem]">
          <LinesSkeleton />
          <div className="max-xl:hidden xl:border-line xl:border-l">
            <LinesSkeleton />
          </div>
        </div>
      </>,
    );
}
