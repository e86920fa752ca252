"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { OneTimeValue } from "@/app/_ui/forms/one-time-value";
import type { MemberRole } from "@/server/auth/actor";
import type { NewInvitation } from "@/server/catalog/organization/invitations";
import { RoleField } from "./role-field";

const LABELS = { "/email": "Email", "/role": "Role" };

/** The form of an invitation, then its link, once. */
export function InviteMember({
  mayInviteOwners,
  onClose,
}: {
  mayInviteOwners: boolean;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<MemberRole>("member");
  const invite = useMutation(
    trpc.members.invite.mutationOptions({
      meta: { refresh: [trpc.members.invitations.pathKey()] },
    }),
  );
  if (invite.data) return <LinkDialog invitation={invite.data} onClose={onClose} />;
  const problems = readProblems(invite.error, LABELS);
  return (
    <FormDialog
      act="Create link"
      acting="Creating"
      mutation={invite}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
      problem={problems.rest}
      title="Invite member"
    >
      <TextField
        autoFocus
        error={problems.at("/email")}
        hint="You get a link to send. It works only for this email, once."
        inputMode="email"
        label="Email"
        onChange={setEmail}
        value={email}
      />
      <RoleField
        error={problems.at("/role")}
        mayAppointOwners={mayInviteOwners}
        onChange={setRole}
        value={role}
      />
    </FormDialog>
  );
}

function LinkDialog({ invitation, onClose }: { invitation: NewInvitation; onClose: () => void }) {
  const { email, token, expiresAt } = invitation;
  return (
    <Dialog onClose={onClose} sticky title={`Invite ${email}`}>
      <p className="[overflow-wrap:anywhere]">
        Send this link to {email}. It works once, until <Moment at={expiresAt} />. The first person to open it
        can join, so send it in a safe way.
      </p>
      <OneTimeValue
        label="Link"
        value={`${window.location.origin}/invite#${token}`}
        warning="Copy it now. Only its hash is stored, so it is not shown again."
      />
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
