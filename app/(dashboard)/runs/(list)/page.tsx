import type { Metadata } from "next";
import { PageHead, SkeletonLine } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { TableSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../../content-page";
import { paramsOf, readAddress } from "../address";
import { runsQuery } from "../query";
import { RunsList } from "./runs-list";

export const metadata: Metadata = { title: "Runs" };

async function Runs({ searchParams }: PageProps<"/runs">) {
  const { filter } = readAddress(paramsOf(await searchParams));
  const prefetch = await createPrefetch();
  await Promise.all([
    prefetch.queryClient.prefetchInfiniteQuery(runsQuery(prefetch.trpc, filter)),
    prefetch.queryClient.prefetchQuery(prefetch.trpc.catalog.filterTargets.queryOptions()),
  ]);
  return (
    <Prefetched from={prefetch}>
      <RunsList />
    </Prefetched>
  );
}

function Skeleton() {
  return (
    <>
      <PageHead title="Runs" />
      <div className="px-4 pb-3 sm:px-6">
        <div className="flex h-8 w-full items-center rounded-md border border-line px-2 sm:w-72">
          <SkeletonLine className="w-40" />
        </div>
      </div>
      <TableSkeleton
        columns={["Run", "Status", "Started by", "Started", "Duration", "Tokens", "Credits"]}
        label="Runs"
      />
    </>
  );
}

export default suspended(Runs, <Skeleton />);
