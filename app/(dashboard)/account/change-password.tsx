"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { Choice, TextField } from "@/app/_ui/forms/form";
import { FormDialog } from "@/app/_ui/forms/form-dialog";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { useNotify } from "@/app/_ui/toast";

const LABELS = { "/currentPassword": "The current password", "/newPassword": "The new password" };

/** Changes the reader's own password. */
export function ChangePassword({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const notify = useNotify();
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const [endOtherSessions, setEndOthers] = useState(true);
  const save = useMutation(
    trpc.account.changePassword.mutationOptions({
      meta: { refresh: [trpc.account.sessions.pathKey()] },
      onSuccess: ({ endedSessions }) => {
        notify(
          "The password is changed",
          endedSessions > 0
            ? `${formatPlural(endedSessions, "other session is", "other sessions are")} signed out.`
            : undefined,
        );
        onClose();
      },
    }),
  );
  const problems = readProblems(save.error, LABELS);
  return (
    <FormDialog
      act="Change password"
      acting="Changing"
      mutation={save}
      onClose={onClose}
      onSubmit={() => save.mutate({ currentPassword, newPassword, endOtherSessions })}
      problem={problems.rest}
      title="Change your password"
    >
      <TextField
        autoComplete="current-password"
        autoFocus
        error={problems.at("/currentPassword")}
        label="Current password"
        onChange={setCurrent}
        type="password"
        value={currentPassword}
      />
      <TextField
        autoComplete="new-password"
        error={problems.at("/newPassword")}
        hint="At least 8 characters."
        label="New password"
        onChange={setNew}
        type="password"
        value={newPassword}
      />
      <Choice checked={endOtherSessions} onChange={setEndOthers}>
        Sign out my other sessions
      </Choice>
    </FormDialog>
  );
}
