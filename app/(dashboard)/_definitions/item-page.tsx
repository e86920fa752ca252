import { notFound } from "next/navigation";
import type { ReactNode } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { DetailHeadSkeleton, LinesSkeleton } from "@/app/_ui/page/skeletons";
import type { RunKind } from "@/server/contract/enums";
import { isUuid } from "@/server/ids";
import { orNotFound, streamed } from "../content-page";
import { recentRunsQuery, versionsQuery, weekQuery } from "./query";

type Prefetch = Awaited<ReturnType<typeof createPrefetch>>;
type Search = Record<string, string | string[] | undefined>;
type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

/** The page of one item, which `render` reads on the server. Unknown ids show the not-found page. */
export function itemPage(
  skeleton: ReactNode,
  render: (prefetch: Prefetch, id: string, search: Search) => Promise<ReactNode>,
) {
  return ({ params, searchParams }: Props) =>
    streamed(async () => {
      const { id } = await params;
      if (!isUuid(id)) notFound();
      const prefetch = await createPrefetch();
      const page = await orNotFound(render(prefetch, id, await searchParams));
      return <Prefetched from={prefetch}>{page}</Prefetched>;
    }, skeleton);
}

/** The page of an agent or tool, with what is beside its definition. */
export function definitionItemPage(
  kind: RunKind,
  render: (prefetch: Prefetch, id: string) => Promise<ReactNode>,
) {
  return itemPage(
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
    async (prefetch, id) => {
      const page = await render(prefetch, id);
      const { queryClient, trpc } = prefetch;
      await Promise.all([
        queryClient.prefetchQuery(recentRunsQuery(trpc, { kind, id })),
        queryClient.prefetchQuery(weekQuery(trpc, { kind, id })),
        queryClient.prefetchInfiniteQuery(versionsQuery(trpc, { kind, id })),
      ]);
      return page;
    },
  );
}
