import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { KeysView } from "./keys-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "API keys" };

async function Keys() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.catalog.keys.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <KeysView />
    </Prefetched>
  );
}

export default function KeysPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Keys />
    </Suspense>
  );
}
