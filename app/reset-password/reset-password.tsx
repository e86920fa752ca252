"use client";

import type { FormEvent } from "react";
import { Button } from "@/app/_ui/button";
import { enter } from "@/app/_ui/data/enter";
import { dropToken } from "@/app/_ui/data/link-token";
import { postJson } from "@/app/_ui/data/query-client";
import { TextField } from "@/app/_ui/forms/form";
import { PASSWORD_HINT } from "@/app/_ui/forms/password-hint";
import { useForm } from "@/app/_ui/forms/use-form";
import { OpenedLink } from "@/app/_ui/page/opened-link";

const LINK = "password";
const readLink = (token: string) => postJson<{ email: string }>("/api/password/read", { token });

type Sent = { token: string; email: string; password: string };

async function setPassword({ token, email, password }: Sent): Promise<void> {
  await postJson("/api/password/use", { token, input: { password } });
  dropToken(LINK);
  await enter({ email, password });
}

/** Sets the password of the link's person, and signs in. */
export function ResetPassword() {
  return (
    <OpenedLink link={LINK} read={readLink} title="New password">
      {({ token, facts }) => <PasswordForm email={facts.email} token={token} />}
    </OpenedLink>
  );
}

function PasswordForm({ email, token }: { email: string; token: string }) {
  const { draft, field, send, dialog } = useForm(
    { mutationFn: setPassword },
    { draft: { password: "" }, labels: { "/password": "New password" } },
  );
  const { mutation, problem } = dialog;
  const isBusy = mutation.isPending || mutation.isSuccess;
  function submit(event: FormEvent) {
    event.preventDefault();
    send({ token, email, ...draft });
  }
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      <h1 className="font-semibold text-title">New password</h1>
      <TextField
        autoComplete="username"
        label="Email"
        onChange={() => {}}
        readOnly
        type="email"
        value={email}
      />
      <TextField
        {...field("password")}
        autoComplete="new-password"
        autoFocus
        hint={`${PASSWORD_HINT} You are signed out everywhere else.`}
        type="password"
      />
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={isBusy} look="primary" type="submit">
        {isBusy ? "Setting the password" : "Set password and sign in"}
      </Button>
    </form>
  );
}
