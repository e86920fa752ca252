import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { suspended } from "../../content-page";
import { paramsOf, readAddress } from "../address";
import { runsQuery } from "../query";
import { RunsList } from "./runs-list";
import { Skeleton } from "./skeleton";

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

export default suspended(Runs, <Skeleton />);
