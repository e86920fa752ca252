"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/app/_ui/button";
import { Dialog, DialogActions } from "@/app/_ui/dialog";
import { TextField } from "@/app/_ui/form";
import { FormDialog } from "@/app/_ui/form-dialog";
import { readProblems } from "@/app/_ui/form-problems";
import { OneTimeValue } from "@/app/_ui/one-time-value";
import { useTRPC } from "@/app/_ui/providers";
import { useNotify } from "@/app/_ui/toast";
import type { MemberRole } from "@/server/auth/actor";
import { RoleField } from "./role-field";

const LABELS = { "/email": "Email", "/name": "Name", "/role": "Role" };

/** The form for a new member, then the password of a new account, once. */
export function AddMember({ mayAddOwners, onClose }: { mayAddOwners: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [role, setRole] = useState<MemberRole>("member");
  const add = useMutation(
    trpc.members.add.mutationOptions({
      onSuccess: async (added) => {
        await queryClient.invalidateQueries({ queryKey: trpc.organization.members.pathKey() });
        if (added.password !== null) return;
        notify(`${added.email} is a member`, "The account existed: its password is unchanged.");
        onClose();
      },
    }),
  );
  if (add.data && add.data.password !== null) {
    return <NewAccountDialog email={add.data.email} onClose={onClose} password={add.data.password} />;
  }
  const problems = readProblems(add.error, LABELS);
  return (
    <FormDialog
      act="Add member"
      acting="Adding"
      busy={add.isPending}
      onClose={onClose}
      onSubmit={() =>
        add.mutate({ email: email.trim(), role, ...(name.trim() === "" ? {} : { name: name.trim() }) })
      }
      problem={problems.rest}
      title="Add a member"
    >
      <TextField
        autoFocus
        error={problems.at("/email")}
        hint="An email without an account gets one with a generated password."
        inputMode="email"
        label="Email"
        onChange={setEmail}
        value={email}
      />
      <TextField
        error={problems.at("/name")}
        hint="Used for a new account. Empty: the part of the email before the @."
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <RoleField
        error={problems.at("/role")}
        mayAppointOwners={mayAddOwners}
        onChange={setRole}
        value={role}
      />
    </FormDialog>
  );
}

function NewAccountDialog({
  email,
  password,
  onClose,
}: {
  email: string;
  password: string;
  onClose: () => void;
}) {
  return (
    <Dialog onOpenChange={(open) => !open && onClose()} open sticky title={`${email} is a member`}>
      <p>
        The account is new. Send the password to {email} in a safe way. They sign in at{" "}
        <span className="mono">{window.location.origin}/sign-in</span>.
      </p>
      <OneTimeValue
        label="Password"
        value={password}
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
