import { DetailHeadSkeleton, LinesSkeleton } from "@/app/_ui/page/skeletons";
import type { RunKind } from "@/server/contract/enums";
import { itemPage } from "../../content-page";
import { recentRunsQuery, weekQuery } from "../../runs/query";
import { versionsQuery } from "../query";

export function definitionItemPage(kind: RunKind, content: Parameters<typeof itemPage>[0]) {
  return itemPage(
    async (prefetch, id, search) => {
      const page = await content(prefetch, id, search);
      const { queryClient, trpc } = prefetch;
      await Promise.all([
        queryClient.prefetchQuery(recentRunsQuery(trpc, { kind, id })),
        queryClient.prefetchQuery(weekQuery(trpc, { kind, id })),
        queryClient.prefetchInfiniteQuery(versionsQuery(trpc, { kind, id })),
      ]);
      return page;
    },
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
