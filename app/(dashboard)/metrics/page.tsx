import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { suspended } from "../content-page";
import { paramsOf } from "../runs/address";
import { readMetricsAddress } from "./address";
import { MetricsView } from "./metrics-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Metrics" };

async function Metrics({ searchParams }: PageProps<"/metrics">) {
  const question = readMetricsAddress(paramsOf(await searchParams));
  const prefetch = await createPrefetch();
  await prefetch.queryClient.prefetchQuery(prefetch.trpc.runs.metrics.queryOptions(question));
  return (
    <Prefetched from={prefetch}>
      <MetricsView />
    </Prefetched>
  );
}

export default suspended(Metrics, <Skeleton />);
