import type { Metadata } from "next";
import { prefetchedPage } from "../content-page";
import { paramsOf } from "../runs/address";
import { CreditsView } from "./credits-view";
import { ledgerQuery, readLedgerAddress } from "./query";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Credits" };

export default prefetchedPage(
  async ({ queryClient, trpc }, { searchParams }: PageProps<"/credits">) => {
    const question = readLedgerAddress(paramsOf(await searchParams));
    await Promise.all([
      queryClient.prefetchQuery(trpc.credits.balance.queryOptions()),
      queryClient.prefetchQuery(trpc.runs.metrics.queryOptions({ period: "7d" })),
      queryClient.prefetchQuery(trpc.runs.metrics.queryOptions({ period: "30d" })),
      queryClient.prefetchInfiniteQuery(ledgerQuery(trpc, question)),
    ]);
    return <CreditsView />;
  },
  <Skeleton />,
);
