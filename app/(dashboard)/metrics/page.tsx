import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { FiguresSkeleton } from "@/app/_ui/page/skeletons";
import { suspended } from "../content-page";
import { paramsOf } from "../runs/address";
import { readMetricsAddress } from "./address";
import { MetricsView } from "./metrics-view";

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

const FIGURES = ["Runs", "Success rate", "Duration p50", "Duration p95", "Tokens", "Credits"];

function Skeleton() {
  return (
    <>
      <PageHead title="Metrics" />
      <FiguresSkeleton label="Key figures" names={FIGURES} />
      <div className="mx-4 mt-12 h-44 rounded bg-surface sm:mx-6" />
    </>
  );
}

export default suspended(Metrics, <Skeleton />);
