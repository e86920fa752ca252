import type { Metadata } from "next";
import { PageHead } from "@/app/_ui/page";
import { Cell, HeadCell, Table } from "@/app/_ui/table";
import { Moment } from "@/app/_ui/time";
import { serverApi } from "@/app/request";
import type { MemberRole } from "@/server/auth/actor";

export const metadata: Metadata = { title: "Members" };

const MAY: Record<MemberRole, string> = {
  owner: "everything, owners included",
  admin: "what members may; keys, members and the audit log",
  member: "what viewers may; start and cancel runs, change agents, tools and triggers",
  viewer: "read",
};

export default async function MembersPage() {
  const members = await (await serverApi()).organization.members();
  return (
    <>
      <PageHead title="Members" />
      <Table className="max-md:block md:table-fixed" label="Members">
        <thead className="max-md:hidden">
          <tr>
            <HeadCell>Member</HeadCell>
            <HeadCell className="w-24">Role</HeadCell>
            <HeadCell className="w-[42%] max-lg:hidden">May</HeadCell>
            <HeadCell className="w-36">Joined</HeadCell>
          </tr>
        </thead>
        <tbody className="max-md:block">
          {members.map((member) => (
            <tr
              className="hover:bg-hover max-md:block max-md:border-line max-md:border-b max-md:px-4 max-md:py-2"
              key={member.userId}
            >
              <Cell className={STACKED}>
                <span className="block truncate font-medium" title={member.name}>
                  {member.name}
                  {member.self ? <span className="font-normal text-muted"> (you)</span> : null}
                </span>
                <span className="block truncate text-muted" title={member.email}>
                  {member.email}
                </span>
              </Cell>
              <Cell className={STACKED}>{member.role}</Cell>
              <Cell className="text-muted max-lg:hidden">{MAY[member.role]}</Cell>
              <Cell className="whitespace-nowrap text-muted max-md:hidden">
                <Moment at={member.joinedAt} />
              </Cell>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}

const STACKED = "max-md:block max-md:h-auto max-md:border-0 max-md:p-0!";
