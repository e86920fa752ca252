import type { Metadata } from "next";
import { Suspense } from "react";
import { createPrefetch, Prefetched } from "@/app/_ui/prefetch";
import { requirePageMember } from "@/app/request";
import { AccountView } from "./account-view";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Account" };

async function Account() {
  const [prefetch, { session }] = await Promise.all([createPrefetch(), requirePageMember()]);
  await prefetch.queryClient.fetchQuery(prefetch.trpc.account.sessions.queryOptions());
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
