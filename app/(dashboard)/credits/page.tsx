import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { CreditsView } from "./credits-view";
import { ledgerQuery, readKind } from "./query";

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export const metadata: Metadata = { title: "Credits" };

export default async function CreditsPage({ searchParams }: Props) {
  const kind = readKind([(await searchParams).kind].flat()[0]);
  const prefetch = await createPrefetch();
  const { queryClient, trpc } = prefetch;
  await Promise.all([
    queryClient.prefetchQuery(trpc.credits.balance.queryOptions()),
    queryClient.prefetchInfiniteQuery(ledgerQuery(trpc, kind)),
  ]);
  return (
    <Prefetched from={prefetch}>
      <CreditsView />
    </Prefetched>
  );
}
