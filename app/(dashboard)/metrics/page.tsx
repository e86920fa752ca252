import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { FiguresSkeleton } from "@/app/_ui/page/skeletons";
import { prefetchedPage } from "../content-page";
import { paramsOf } from "../runs/address";
import { readMetricsAddress } from "./address";
import { KEY_FIGURES } from "./key-figures";
import { MetricsView } from "./metrics-view";

export const metadata: Metadata = { title: "Metrics" };

export default prefetchedPage(
  async ({ queryClient, trpc }, { searchParams }: PageProps<"/metrics">) => {
    const question = readMetricsAddress(paramsOf(await searchParams));
    await queryClient.prefetchQuery(trpc.runs.metrics.queryOptions(question));
    return <MetricsView />;
  },
  <>
    <PageHead title="Metrics" />
    <FiguresSkeleton label="Key figures" names={KEY_FIGURES} />
    <div className="mx-4 mt-12 h-44 rounded bg-surface sm:mx-6" />
  </>,
);
