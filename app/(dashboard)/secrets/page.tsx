import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { SecretsView } from "./secrets-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Secrets" };

async function Secrets() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.secrets.list.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <SecretsView />
    </Prefetched>
  );
}

export default function SecretsPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Secrets />
    </Suspense>
  );
}
