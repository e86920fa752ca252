"use client";

import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { Choice, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { PASSWORD_HINT } from "@/app/_ui/forms/password-hint";
import { useForm } from "@/app/_ui/forms/use-form";

export function ChangePassword() {
  const trpc = useTRPC();
  const form = useForm(trpc.account.changePassword.mutationOptions(), {
    draft: { currentPassword: "", newPassword: "", endOtherSessions: true },
    labels: { "/currentPassword": "The current password", "/newPassword": "The new password" },
    refresh: [trpc.account.sessions],
    done: ({ endedSessions }) =>
      endedSessions === 0
        ? "The password is changed"
        : [
            "The password is changed",
            `${formatPlural(endedSessions, "other session is", "other sessions are")} signed out.`,
          ],
  });
  return (
    <FormDialog
      {...form.dialog}
      act="Change password"
      acting="Changing"
      onSubmit={() => form.send(form.draft)}
      title="Change your password"
    >
      <TextField
        {...form.field("currentPassword")}
        autoComplete="current-password"
        autoFocus
        label="Current password"
        type="password"
      />
      <TextField
        {...form.field("newPassword")}
        autoComplete="new-password"
        hint={PASSWORD_HINT}
        label="New password"
        type="password"
      />
      <Choice
        checked={form.draft.endOtherSessions}
        onChange={(endOtherSessions) => form.change({ endOtherSessions })}
      >
        Sign out my other sessions
      </Choice>
    </FormDialog>
  );
}
