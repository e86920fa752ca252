import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { requirePageMember } from "@/app/request";
import { roleCovers } from "@/server/auth/sessions";
import { MembersView } from "./members-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Members" };

async function Members() {
  const [prefetch, { actor }] = await Promise.all([createPrefetch(), requirePageMember()]);
  const { queryClient, trpc } = prefetch;
  await Promise.all([
    queryClient.fetchQuery(trpc.organization.members.queryOptions()),
    roleCovers(actor.role, "admin") ? queryClient.fetchQuery(trpc.members.invitations.queryOptions()) : null,
  ]);
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
