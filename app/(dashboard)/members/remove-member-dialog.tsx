"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { ConfirmDialog } from "@/app/_ui/forms/form-dialog";
import { useNotify } from "@/app/_ui/toast";
import type { MemberLine } from "@/server/auth/list-members";

/** Confirms, then ends a membership: another person's, or the reader's own. */
export function RemoveMemberDialog({ member, onClose }: { member: MemberLine; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const remove = useMutation(
    trpc.members.remove.mutationOptions({
      onSuccess: async () => {
        if (member.self) {
          // The session has another organization now, or none: everything on the page is another's.
          window.location.assign("/");
          return;
        }
        await queryClient.invalidateQueries({ queryKey: trpc.organization.members.pathKey() });
        notify(`${member.email} is no longer a member`);
        onClose();
      },
    }),
  );
  return (
    <ConfirmDialog
      act={member.self ? "Leave" : "Remove"}
      acting={member.self ? "Leaving" : "Removing"}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({ userId: member.userId })}
      title={member.self ? "Leave the organization" : `Remove ${member.name}`}
    >
      <p>
        {member.self ? "You lose" : `${member.email} loses`} access to this organization immediately. The
        account, its runs and the API keys it created stay.
      </p>
      <p className="text-muted">Revoke keys under API keys if they must stop, too.</p>
    </ConfirmDialog>
  );
}
