import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { paramsOf, readAddress } from "../address";
import { runsQuery } from "../query";
import { RunsList } from "./runs-list";

export const metadata: Metadata = { title: "Runs" };

export default async function RunsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
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
