import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { isUuid } from "@/server/base/ids";
import { createPrefetch, detailPage, orNotFound, Prefetched } from "../../content-page";
import { runsQuery, sameTarget } from "../query";
import { Comparison, RunPicker, Skeleton } from "./parts";

export const metadata: Metadata = { title: "Compare runs" };

type Props = { searchParams: Promise<{ a?: string; b?: string }> };

/** Compares two runs: `?a=` and `?b=`. Without `b` the reader picks one. */
export default detailPage(
  async ({ searchParams }: Props) => {
    const { a, b } = await searchParams;
    if (!a || !isUuid(a) || (b !== undefined && !isUuid(b))) notFound();
    const prefetch = await createPrefetch();
    const { queryClient, trpc } = prefetch;
    const read = (runId: string) =>
      orNotFound(queryClient.fetchQuery(trpc.runs.inspect.queryOptions({ runId })));
    const [first] = await Promise.all([
      read(a),
      b ? read(b) : null,
      b ? queryClient.prefetchQuery(trpc.runs.compareConfigurations.queryOptions({ a, b })) : null,
    ]);
    if (!b) {
      await Promise.all([
        queryClient.prefetchInfiniteQuery(runsQuery(trpc, sameTarget(first.run))),
        queryClient.prefetchQuery(trpc.catalog.filterTargets.queryOptions()),
      ]);
    }
    return (
      <Prefetched from={prefetch}>
        {b ? <Comparison a={a} b={b} key={`${a} ${b}`} /> : <RunPicker run={first.run} />}
      </Prefetched>
    );
  },
  <Skeleton />,
);
