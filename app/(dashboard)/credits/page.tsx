import type { Metadata } from "next";
import { PartHead } from "@/app/_ui/figures/facts";
import { PageHead } from "@/app/_ui/page/page";
import { prefetchedPage } from "../content-page";
import { paramsOf } from "../runs/address";
import { BalanceFigures, BalanceSkeleton, NoCreditsLeft } from "./balance-figures";
import { Ledger, LedgerSkeleton } from "./ledger";
import { ledgerQuery, readLedgerAddress } from "./query";
import { UseOfCredits } from "./use-of-credits";

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
    return (
      <>
        <PageHead title="Credits" />
        <BalanceFigures />
        <NoCreditsLeft />
        <UseOfCredits />
        <Ledger />
      </>
    );
  },
  <>
    <PageHead title="Credits" />
    <BalanceSkeleton />
    <PartHead title="Ledger" />
    <LedgerSkeleton />
  </>,
);
