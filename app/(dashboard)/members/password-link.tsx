"use client";

import { OneTimeValue } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { DoneDialog } from "@/app/_ui/dialog";
import { Moment } from "@/app/_ui/figures/time";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { useForm } from "@/app/_ui/forms/use-form";
import type { MemberLine } from "@/server/catalog/organization/members";

/** Confirms, then shows a link with which a member sets a new password, once. */
export function PasswordLink({ member: { userId, name, email } }: { member: MemberLine }) {
  const trpc = useTRPC();
  const form = useForm(trpc.members.createPasswordLink.mutationOptions(), { draft: {} });
  if (form.result) {
    const { token, expiresAt } = form.result;
    return (
      <DoneDialog sticky title={`New password for ${name}`}>
        <p className="[overflow-wrap:anywhere]">
          Send this link to {email}. It works once, until <Moment at={expiresAt} />. The person who opens it
          can sign in as {name}, so send it in a safe way.
        </p>
        <OneTimeValue
          label="Link"
          value={`${window.location.origin}/reset-password#${token}`}
          warning="Copy it now. Only its hash is stored, so it is not shown again."
        />
      </DoneDialog>
    );
  }
  return (
    <FormDialog
      {...form.dialog}
      act="Create link"
      acting="Creating"
      onSubmit={() => form.send({ userId })}
      title={`New password for ${name}`}
    >
      <p className="[overflow-wrap:anywhere]">
        This creates a link with which {email} sets a new password. Until then, the current one works. An
        earlier link stops working.
      </p>
      <p className="text-muted">
        Only for people without another organization. For others, the operator creates the link.
      </p>
    </FormDialog>
  );
}
