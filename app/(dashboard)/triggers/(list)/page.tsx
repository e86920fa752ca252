import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { Skeleton } from "./skeleton";
import { TriggersView } from "./triggers-view";

export const metadata: Metadata = { title: "Triggers" };

async function Triggers() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.catalog.triggers.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <TriggersView />
    </Prefetched>
  );
}

export default function TriggersPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Triggers />
    </Suspense>
  );
}
