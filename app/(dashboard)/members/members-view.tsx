"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { PartHead } from "@/app/_ui/figures/facts";
import { Day } from "@/app/_ui/figures/time";
import { lazy } from "@/app/_ui/lazy";
import { MenuHeading, MenuItem, MenuSeparator, MoreMenu } from "@/app/_ui/menu/menu";
import { PageHead } from "@/app/_ui/page/page";
import { PageButton } from "@/app/_ui/page/page-actions";
import { useMay } from "@/app/_ui/role";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { useDialog } from "@/app/_ui/use-dialog";
import type { InvitationLine } from "@/server/catalog/organization/invitations";
import type { MemberLine } from "@/server/catalog/organization/members";
import { ROLE_LABELS, ROLE_PERMISSIONS, rejectionFor } from "./roles";

const RemoveMember = lazy(() => import("./member-dialogs"), "RemoveMember");
const ChangeRole = lazy(() => import("./member-dialogs"), "ChangeRole");
const PasswordLink = lazy(() => import("./password-link"), "PasswordLink");
const InviteMember = lazy(() => import("./member-dialogs"), "InviteMember");
const RevokeInvitation = lazy(() => import("./member-dialogs"), "RevokeInvitation");

const COLUMNS: LineColumn<MemberLine>[] = [
  {
    head: "Member",
    area: "share",
    cell: ({ name, email, self }) => (
      <>
        <span className="block truncate font-medium" title={name}>
          {name}
          {self ? <span className="font-normal text-muted"> (you)</span> : null}
        </span>
        <span className="block truncate text-muted" title={email}>
          {email}
        </span>
      </>
    ),
  },
  { head: "Role", width: "w-24", area: "end", cell: ({ role }) => ROLE_LABELS[role] },
  {
    head: "Permissions",
    width: "w-[42%]",
    area: "wide",
    cell: ({ role }) => <span className="text-muted">{ROLE_PERMISSIONS[role]}</span>,
  },
  { head: "Joined", width: "w-32", area: "none", look: "muted", cell: (line) => <Day at={line.joinedAt} /> },
];

export const MembersSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={({ userId }) => userId} label="Members" lines={null} />
);

export function MembersView() {
  const trpc = useTRPC();
  const mayChange = useMay("admin");
  const isOwner = useMay("owner");
  const { data } = useSuspenseQuery(trpc.organization.members.queryOptions());
  const { dialog, open } = useDialog();
  const owners = data.filter(({ role }) => role === "owner").length;
  const menuOf = (member: MemberLine) => {
    const rejection = rejectionFor(member, { isOwner, owners });
    return (
      <MoreMenu label={`Actions for ${member.name}`} quiet>
        {rejection === null ? null : <MenuHeading>{rejection}</MenuHeading>}
        <MenuItem
          disabled={rejection !== null}
          onClick={() => open(<ChangeRole mayAppointOwners={isOwner} member={member} />)}
        >
          Change role
        </MenuItem>
        {member.self ? null : (
          <MenuItem disabled={rejection !== null} onClick={() => open(<PasswordLink member={member} />)}>
            New password link
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem danger disabled={rejection !== null} onClick={() => open(<RemoveMember member={member} />)}>
          {member.self ? "Leave the organization" : "Remove from the organization"}
        </MenuItem>
      </MoreMenu>
    );
  };
  return (
    <>
      <PageHead title="Members">
        <PageButton
          label="Invite member"
          needs="admin"
          otherwise="Admins and owners invite and change members."
          to={() => open(<InviteMember mayInviteOwners={isOwner} />)}
        />
      </PageHead>
      <LineList
        columns={COLUMNS}
        keyOf={({ userId }) => userId}
        label="Members"
        lines={data}
        menu={mayChange && menuOf}
      />
      {mayChange ? <InvitationList /> : null}
      {dialog}
    </>
  );
}

const INVITATION_COLUMNS: LineColumn<InvitationLine>[] = [
  {
    head: "Invited",
    area: "line",
    cell: ({ email }) => (
      <span className="block truncate font-medium" title={email}>
        {email}
      </span>
    ),
  },
  { head: "Role", width: "w-24", area: "share", cell: ({ role }) => ROLE_LABELS[role] },
  {
    head: "Invited by",
    width: "w-[28%]",
    area: "wide",
    look: "cut",
    cell: ({ invitedBy, createdAt }) => (
      <>
        {invitedBy}, <Day at={createdAt} />
      </>
    ),
  },
  {
    head: "Link works until",
    width: "w-40",
    area: "end",
    look: "muted",
    cell: ({ expired, expiresAt }) =>
      expired ? (
        <span className="text-failed">expired</span>
      ) : (
        <>
          <span className="md:hidden">until </span>
          <Day at={expiresAt} />
        </>
      ),
  },
];

function InvitationList() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery(trpc.members.invitations.queryOptions());
  const { dialog, open } = useDialog();
  if (data.length === 0) return null;
  const actions: LineColumn<InvitationLine> = {
    head: "Actions",
    width: "w-24",
    area: "action",
    cell: (invitation) => (
      <Button
        aria-label={`Revoke the invitation of ${invitation.email}`}
        look="quiet"
        onClick={() => open(<RevokeInvitation invitation={invitation} />)}
      >
        Revoke
      </Button>
    ),
  };
  return (
    <section aria-label="Open invitations">
      <PartHead title="Open invitations" />
      <LineList
        columns={[...INVITATION_COLUMNS, actions]}
        keyOf={({ id }) => id}
        label="Open invitations"
        lines={data}
      />
      {dialog}
    </section>
  );
}
