import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { FactsSkeleton } from "@/app/_ui/page/skeletons";
import { requirePageMember } from "@/app/request";
import { prefetchedPage } from "../content-page";
import { AccountView } from "./account-view";

export const metadata: Metadata = { title: "Account" };

export default prefetchedPage(
  async ({ queryClient, trpc }) => {
    await Promise.all([
      queryClient.fetchQuery(trpc.account.sessions.queryOptions()),
      queryClient.fetchQuery(trpc.account.organizations.queryOptions()),
    ]);
    const { name, email } = (await requirePageMember()).session.user;
    return <AccountView user={{ name, email }} />;
  },
  <>
    <PageHead title="Account" />
    <FactsSkeleton label="You" names={["Name", "Email", "Theme", "Time zone", "Single keys"]} />
  </>,
);
