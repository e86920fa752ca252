import type { Metadata } from "next";
import { Suspense } from "react";
import { PageHead } from "@/app/_ui/page";
import { List, ListCell, ListRow } from "@/app/_ui/table";
import { Day } from "@/app/_ui/time";
import { serverApi } from "@/app/request";
import type { MemberRole } from "@/server/auth/actor";
import { Skeleton } from "./skeleton";

export const metadata: Metadata = { title: "Members" };

const MAY: Record<MemberRole, string> = {
  owner: "everything, including owners",
  admin: "as members; also keys, members and the audit log",
  member: "as viewers; also start and cancel runs, change agents, tools and triggers",
  viewer: "read",
};

const COLUMNS = [
  ["Member"],
  ["Role", "w-24"],
  ["Permissions", "w-[42%] max-lg:hidden"],
  ["Joined", "w-32"],
] as const;

async function Members() {
  const members = await (await serverApi()).organization.members();
  return (
    <>
      <PageHead title="Members" />
      <List columns={COLUMNS} label="Members">
        {members.map((member) => (
          <ListRow key={member.userId}>
            <ListCell area="share">
              <span className="block truncate font-medium" title={member.name}>
                {member.name}
                {member.self ? <span className="font-normal text-muted"> (you)</span> : null}
              </span>
              <span className="block truncate text-muted" title={member.email}>
                {member.email}
              </span>
            </ListCell>
            <ListCell area="end">{member.role}</ListCell>
            <ListCell className="text-muted" area="wide">
              {MAY[member.role]}
            </ListCell>
            <ListCell className="whitespace-nowrap text-muted" area="none">
              <Day at={member.joinedAt} />
            </ListCell>
          </ListRow>
        ))}
      </List>
    </>
  );
}

export default function MembersPage() {
  return (
    <Suspense fallback={<Skeleton />}>
      <Members />
    </Suspense>
  );
}
