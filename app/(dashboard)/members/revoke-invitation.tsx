"use client";

import { useMutation } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { InvitationLine } from "@/server/catalog/organization/invitations";

/** Confirms, then revokes an invitation. */
export function RevokeInvitation({
  invitation,
  onClose,
}: {
  invitation: InvitationLine;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const notify = useNotify();
  const revoke = useMutation(
    trpc.members.revokeInvitation.mutationOptions({
      meta: { refresh: [trpc.members.invitations.pathKey()] },
      onSuccess: () => {
        notify(`The invitation of ${invitation.email} is revoked`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act="Revoke invitation"
      acting="Revoking"
      mutation={revoke}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ id: invitation.id })}
      title={`Revoke the invitation of ${invitation.email}`}
    >
      <p>The link stops working immediately. You can invite {invitation.email} again.</p>
    </ConfirmDialog>
  );
}
