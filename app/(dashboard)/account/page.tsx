import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";
import { requirePageMember } from "@/app/request";
import { suspended } from "../content-page";
import { AccountView } from "./account-view";

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

export default suspended(
  Account,
  <>
    <PageHead title="Account" />
    <FactsSkeleton label="You" names={["Name", "Email", "Theme", "Time zone"]} />
  </>,
);
