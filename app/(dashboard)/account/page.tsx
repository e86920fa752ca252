import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { requirePageMember } from "@/app/request";
import { AccountView } from "./account-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Account" };

async function Account() {
  const [prefetch, { session }] = await Promise.all([createPrefetch(), requirePageMember()]);
  await Promise.all([
    prefetch.queryClient.fetchQuery(prefetch.trpc.account.sessions.queryOptions()),
    prefetch.queryClient.fetchQuery(prefetch.trpc.account.organizations.queryOptions()),
  ]);
  const { name, email } = session.user;
  return (
    <Prefetched from={prefetch}>
      <AccountView user={{ name, email }} />
    </Prefetched>
  );
}

export default function AccountPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Account />
    </Suspense>
  );
}
