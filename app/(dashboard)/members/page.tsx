import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page/page";
import { roleCovers } from "@/server/base/actor";
import { prefetchedPage } from "../content-page";
import { MembersSkeleton, MembersView } from "./members-view";

export const metadata: Metadata = { title: "Members" };

export default prefetchedPage(
  async ({ queryClient, trpc, actor }) => {
    await Promise.all([
      queryClient.fetchQuery(trpc.organization.members.queryOptions()),
      roleCovers(actor.role, "admin")
        ? queryClient.fetchQuery(trpc.members.invitations.queryOptions())
        : null,
    ]);
    return <MembersView />;
  },
  <>
    <PageHead title="Members" />
    <MembersSkeleton />
  </>,
);
