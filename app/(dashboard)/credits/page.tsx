import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { suspended } from "../content-page";
import { paramsOf } from "../runs/address";
import { CreditsView } from "./credits-view";
import { ledgerQuery, readLedgerAddress } from "./query";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Credits" };

async function Credits({ searchParams }: PageProps<"/credits">) {
  const question = readLedgerAddress(paramsOf(await searchParams));
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await Promise.all([
    queryClient.prefetchQuery(trpc.credits.balance.queryOptions()),
    queryClient.prefetchQuery(trpc.runs.metrics.queryOptions({ period: "7d" })),
    queryClient.prefetchQuery(trpc.runs.metrics.queryOptions({ period: "30d" })),
    queryClient.prefetchInfiniteQuery(ledgerQuery(trpc, question)),
  ]);
  return (
    <Prefetched from={prefetch}>
      <CreditsView />
    </Prefetched>
  );
}

export default suspended(Credits, <Skeleton />);
