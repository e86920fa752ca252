import type { Metadata } from "next";
import { PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { prefetchedPage } from "../../content-page";
import { paramsOf, readFilter } from "../address";
import { runsQuery } from "../query";
import { RunsList, RunsSkeleton } from "./runs-list";

export const metadata: Metadata = { title: "Runs" };

export default prefetchedPage(
  async ({ queryClient, trpc }, { searchParams }: PageProps<"/runs">) => {
    const { filter } = readFilter(paramsOf(await searchParams));
    await Promise.all([
      queryClient.prefetchInfiniteQuery(runsQuery(trpc, filter)),
      queryClient.prefetchQuery(trpc.catalog.filterTargets.queryOptions()),
    ]);
    return <RunsList />;
  },
  <>
    <PageHead title="Runs" />
    <div className="px-4 pb-3 sm:px-6">
      <div className="flex h-8 w-full items-center rounded-md border border-line px-2 sm:w-72">
        <SkeletonLine className="w-40" />
      </div>
    </div>
    <RunsSkeleton />
  </>,
);
