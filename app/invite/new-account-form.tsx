"use client";

import type { FormEvent } from "react";
import { Button } from "@/app/_ui/button";
import { enter } from "@/app/_ui/data/enter";
import { dropToken } from "@/app/_ui/data/link-token";
import { TextField } from "@/app/_ui/forms/form";
import { PASSWORD_HINT } from "@/app/_ui/forms/password-hint";
import { useForm } from "@/app/_ui/forms/use-form";
import { MAX_NAME_LENGTH } from "@/server/contract/limits";
import { acceptInvitation, INVITATION } from "./call";

type Sent = { email: string; token: string; name: string; password: string };

async function createAccount({ email, token, name, password }: Sent): Promise<void> {
  await acceptInvitation(token, { name: name.trim(), password });
  dropToken(INVITATION);
  await enter({ email, password });
}

/** Creates the invited person's account, makes it a member, and signs in. */
export function NewAccountForm({ email, token }: { email: string; token: string }) {
  const { draft, field, send, dialog } = useForm(
    { mutationFn: createAccount },
    { draft: { name: "", password: "" }, labels: { "/name": "Name", "/password": "Password" } },
  );
  const { mutation, problem } = dialog;
  const isBusy = mutation.isPending || mutation.isSuccess;
  function submit(event: FormEvent) {
    event.preventDefault();
    send({ email, token, ...draft });
  }
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      <TextField
        autoComplete="username"
        label="Email"
        onChange={() => {}}
        readOnly
        type="email"
        value={email}
      />
      <TextField {...field("name")} autoComplete="name" autoFocus maxLength={MAX_NAME_LENGTH} />
      <TextField {...field("password")} autoComplete="new-password" hint={PASSWORD_HINT} type="password" />
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={isBusy} look="primary" type="submit">
        {isBusy ? "Creating the account" : "Create account and join"}
      </Button>
    </form>
  );
}
