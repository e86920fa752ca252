import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { OrganizationView } from "./organization-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Settings" };

async function Organization() {
  const prefetch = await createPrefetch();
  await Promise.all([
    prefetch.queryClient.fetchQuery(prefetch.trpc.organization.inspect.queryOptions()),
    prefetch.queryClient.fetchQuery(prefetch.trpc.credits.balance.queryOptions()),
  ]);
  return (
    <Prefetched from={prefetch}>
      <OrganizationView />
    </Prefetched>
  );
}

export default function OrganizationPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Organization />
    </Suspense>
  );
}
