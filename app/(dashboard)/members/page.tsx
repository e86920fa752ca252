import type { Metadata } from "next";
import { createPrefetch, Prefetched } from "@/app/_ui/page/prefetch";
import { ListPageSkeleton } from "@/app/_ui/page/skeletons";
import { requirePageMember } from "@/app/request";
import { roleCovers } from "@/server/auth/sessions";
import { suspended } from "../content-page";
import { MembersView } from "./members-view";

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

export default suspended(
  Members,
  <ListPageSkeleton columns={["Member", "Role", "Permissions", "Joined"]} title="Members" />,
);
