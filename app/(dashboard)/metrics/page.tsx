import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { paramsOf } from "../runs/address";
import { readMetricsAddress } from "./address";
import { MetricsView } from "./metrics-view";

export const metadata: Metadata = { title: "Metrics" };

export default async function MetricsPage({
  searchParams,
}: {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}) {
  const question = readMetricsAddress(paramsOf(await searchParams));
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.runs.metrics.queryOptions(question));
  return (
    <Prefetched from={prefetch}>
      <MetricsView />
    </Prefetched>
  );
}
