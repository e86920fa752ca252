import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { MembersView } from "./members-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Members" };

async function Members() {
  const prefetch = await createPrefetch();
  await prefetch.queryClient.fetchQuery(prefetch.trpc.organization.members.queryOptions());
  return (
    <Prefetched from={prefetch}>
      <MembersView />
    </Prefetched>
  );
}

export default function MembersPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Members />
    </Suspense>
  );
}
