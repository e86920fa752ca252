import type { Metadata } from "next";
import { cookies } from "next/headers";
import { PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { prefetchedPage } from "../../content-page";
import { paramsOf, readFilter } from "../address";
import { runsQuery } from "../query";
import { readColumns } from "./columns/column-choice";
import { RunsList, RunsSkeleton } from "./runs-list";

export const metadata: Metadata = { title: "Runs" };

export default prefetchedPage(
  async ({ queryClient, trpc }, { searchParams }: PageProps<"/runs">) => {
    const { filter } = readFilter(paramsOf(await searchParams));
    await Promise.all([
      queryClient.prefetchInfiniteQuery(runsQuery(trpc, filter)),
      queryClient.prefetchQuery(trpc.catalog.filterTargets.queryOptions()),
      queryClient.prefetchQuery(trpc.views.list.queryOptions()),
    ]);
    return <RunsList initialColumns={readColumns((await cookies()).get("columns")?.value)} />;
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
