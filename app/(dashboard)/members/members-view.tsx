"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { MenuHeading, MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-button";
import { useMay } from "@/app/_ui/role";
import { List, ListCell, ListRow } from "@/app/_ui/table";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import type { MemberLine } from "@/server/auth/list-members";
import { InvitationList } from "./invitation-list";
import { MAY, refusalFor } from "./roles";

const RemoveMember = lazy(() => import("./member-dialogs"), "RemoveMember");
const ChangeRole = lazy(() => import("./member-dialogs"), "ChangeRole");
const InviteMember = lazy(() => import("./member-dialogs"), "InviteMember");

const COLUMNS = [
  ["Member"],
  ["Role", "w-24"],
  ["Permissions", "w-[42%] max-lg:hidden"],
  ["Joined", "w-32"],
] as const;
const ACTIONS = ["", "w-14"] as const;

type Opened = { what: "role" | "remove"; member: MemberLine };

/** The organization's members; administrators invite, change and remove them here. */
export function MembersView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const isOwner = useMay("owner");
  const { data } = useSuspenseQuery(trpc.organization.members.queryOptions());
  const [inviting, setInviting] = useState(false);
  const [opened, setOpened] = useState<Opened | null>(null);
  const owners = data.filter(({ role }) => role === "owner").length;
  return (
    <>
      <PageHead title="Members">
        <PageButton
          label="Invite member"
          needs="admin"
          otherwise="Admins and owners invite and change members."
          to={() => setInviting(true)}
        />
      </PageHead>
      <List columns={mayChange ? [...COLUMNS, ACTIONS] : COLUMNS} label="Members">
        {data.map((member) => (
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
            <ListCell area="end">{ROLE_LABELS[member.role]}</ListCell>
            <ListCell className="text-muted first-letter:uppercase" area="wide">
              {MAY[member.role]}
            </ListCell>
            <ListCell className="whitespace-nowrap text-muted" area="none">
              <Day at={member.joinedAt} />
            </ListCell>
            {mayChange ? (
              <ListCell area="action">
                <MemberMenu
                  member={member}
                  onOpen={(what) => setOpened({ what, member })}
                  refusal={refusalFor(member, { isOwner, owners })}
                />
              </ListCell>
            ) : null}
          </ListRow>
        ))}
      </List>
      {mayChange ? <InvitationList /> : null}
      {inviting ? <InviteMember mayInviteOwners={isOwner} onClose={() => setInviting(false)} /> : null}
      {opened?.what === "role" ? (
        <ChangeRole mayAppointOwners={isOwner} member={opened.member} onClose={() => setOpened(null)} />
      ) : null}
      {opened?.what === "remove" ? (
        <RemoveMember member={opened.member} onClose={() => setOpened(null)} />
      ) : null}
    </>
  );
}

function MemberMenu({
  member,
  refusal,
  onOpen,
}: {
  member: MemberLine;
  /** Why nothing can be changed; null if it can. */
  refusal: string | null;
  onOpen: (what: Opened["what"]) => void;
}) {
  return (
    <MoreMenu label={`Actions for ${member.name}`} quiet>
      {refusal === null ? null : <MenuHeading>{refusal}</MenuHeading>}
      <MenuItem disabled={refusal !== null} onClick={() => onOpen("role")}>
        Change role
      </MenuItem>
      <MenuSeparator />
      <MenuItem danger disabled={refusal !== null} onClick={() => onOpen("remove")}>
        {member.self ? "Leave the organization" : "Remove from the organization"}
      </MenuItem>
    </MoreMenu>
  );
}
