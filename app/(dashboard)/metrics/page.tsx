import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { readMetricsAddress } from "./address";
import { MetricsView } from "./metrics-view";

export const metadata: Metadata = { title: "Metrics" };

export default async function MetricsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const params = await searchParams;
  const question = readMetricsAddress({ get: (name) => [params[name]].flat()[0] ?? null });
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.runs.metrics.queryOptions(question));
  return (
    <Prefetched from={prefetch}>
      <MetricsView />
    </Prefetched>
  );
}
