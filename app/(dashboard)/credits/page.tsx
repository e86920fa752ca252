import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { CreditsView } from "./credits-view";
import { ledgerQuery, readKind } from "./query";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Credits" };

async function Credits({ searchParams }: PageProps<"/credits">) {
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

export default function CreditsPage(props: PageProps<"/credits">) {
  return (
    <Suspense fallback={<Skeleton />}>
      <Credits {...props} />
    </Suspense>
  );
}
