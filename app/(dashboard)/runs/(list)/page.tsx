import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { readFilter } from "../address";
import { runsQuery } from "../query";
import { RunsList } from "../runs-list";

export const metadata: Metadata = { title: "Runs" };

export default async function RunsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const params = await searchParams;
  const filter = readFilter({ get: (name) => [params[name]].flat()[0] ?? null });
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
