"use client";

import { useRouter } from "next/navigation";
import { OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { OptionField, TextField } from "@/app/_ui/forms/form";
import { ConfirmDialog, FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import { MEMBER_ROLES, type MemberRole } from "@/server/base/actor";
import type { InvitationLine, NewInvitation } from "@/server/catalog/organization/invitations";
import type { MemberLine } from "@/server/catalog/organization/members";
import { ROLE_LABELS, ROLE_PERMISSIONS } from "./roles";

type RoleFieldProps = {
  label: string;
  value: MemberRole;
  error: string | undefined;
  mayAppointOwners: boolean;
  onChange: (role: MemberRole) => void;
};

function RoleField({ mayAppointOwners, ...props }: RoleFieldProps) {
  const options = MEMBER_ROLES.map((role) =>
    role === "owner" && !mayAppointOwners
      ? { value: role, label: `${ROLE_LABELS[role]} (only an owner appoints owners)`, disabled: true }
      : { value: role, label: ROLE_LABELS[role] },
  );
  return <OptionField {...props} hint={`${ROLE_PERMISSIONS[props.value]}.`} options={options} />;
}

/** The form of an invitation, then its link, once. */
export function InviteMember({ mayInviteOwners }: { mayInviteOwners: boolean }) {
  const trpc = useTRPC();
  const form = useForm(trpc.members.invite.mutationOptions(), {
    draft: { email: "", role: "member" as MemberRole },
    labels: { "/email": "Email", "/role": "Role" },
    refresh: [trpc.members.invitations],
  });
  const { email, role } = form.draft;
  if (form.result) return <LinkDialog invitation={form.result} />;
  return (
    <FormDialog
      {...form.dialog}
      act="Create link"
      acting="Creating"
      onSubmit={() => form.send({ email: email.trim(), role })}
      title="Invite member"
    >
      <TextField
        {...form.field("email")}
        autoFocus
        hint="You get a link to send. It works only for this email, once."
        inputMode="email"
      />
      <RoleField {...form.field("role")} mayAppointOwners={mayInviteOwners} />
    </FormDialog>
  );
}

function LinkDialog({ invitation: { email, token, expiresAt } }: { invitation: NewInvitation }) {
  return (
    <DoneDialog sticky title={`Invite ${email}`}>
      <p className="[overflow-wrap:anywhere]">
        Send this link to {email}. It works once, until <Moment at={expiresAt} />. The first person to open it
        can join, so send it in a safe way.
      </p>
      <OneTimeValue
        label="Link"
        value={`${window.location.origin}/invite#${token}`}
        warning="Copy it now. Only its hash is stored, so it is not shown again."
      />
    </DoneDialog>
  );
}

export function RevokeInvitation({ invitation: { id, email } }: { invitation: InvitationLine }) {
  const trpc = useTRPC();
  const form = useForm(trpc.members.revokeInvitation.mutationOptions(), {
    draft: {},
    refresh: [trpc.members.invitations],
    done: () => `The invitation of ${email} is revoked`,
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act="Revoke invitation"
      acting="Revoking"
      onConfirm={() => form.send({ id })}
      title={`Revoke the invitation of ${email}`}
    >
      <p>The link stops working immediately. You can invite {email} again.</p>
    </ConfirmDialog>
  );
}

type ChangeRoleProps = { member: MemberLine; mayAppointOwners: boolean };

export function ChangeRole({ member, mayAppointOwners }: ChangeRoleProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const form = useForm(trpc.members.changeRole.mutationOptions(), {
    draft: { role: member.role },
    labels: { "/role": "Role" },
    refresh: [trpc.organization.members],
    done: (saved) => {
      // The layout offers what the reader's own role allows.
      if (member.self) router.refresh();
      return `${member.name} has the role ${ROLE_LABELS[saved.role]}`;
    },
  });
  const { role } = form.draft;
  return (
    <FormDialog
      {...form.dialog}
      act="Change role"
      acting="Changing"
      onSubmit={() => form.send({ userId: member.userId, role })}
      title={`Change the role of ${member.name}`}
    >
      <RoleField {...form.field("role")} mayAppointOwners={mayAppointOwners} />
      {member.self && role !== member.role ? (
        <p className="rounded-md bg-waiting-wash px-2.5 py-2 text-waiting">
          This is your own role. Another {ROLE_LABELS[member.role]} must change it back.
        </p>
      ) : null}
    </FormDialog>
  );
}

/** Confirms, then ends a membership: another person's, or the reader's own. */
export function RemoveMember({ member: { userId, name, email, self } }: { member: MemberLine }) {
  const trpc = useTRPC();
  const form = useForm(trpc.members.remove.mutationOptions(), {
    draft: {},
    refresh: self ? [] : [trpc.organization.members],
    done: () => {
      if (!self) return `${email} is no longer a member`;
      // The session has another organization now, or none: everything on the page is another's.
      window.location.assign("/");
      return undefined;
    },
  });
  return (
    <ConfirmDialog
      {...form.dialog}
      act={self ? "Leave" : "Remove"}
      acting={self ? "Leaving" : "Removing"}
      onConfirm={() => form.send({ userId })}
      title={self ? "Leave the organization" : `Remove ${name}`}
    >
      <p>
        {self ? "You lose" : `${email} loses`} access to this organization immediately. The account, its runs
        and the API keys it created stay.
      </p>
      <p className="text-muted">Revoke keys under API keys if they must stop, too.</p>
    </ConfirmDialog>
  );
}
