"use client";

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { postJson } from "@/app/_ui/data/query-client";
import { TextField } from "@/app/_ui/forms/form";
import { readProblems } from "@/app/_ui/forms/form-problems";
import { acceptInvitation } from "./call";
import { dropToken } from "./token";

type Sent = { email: string; token: string; name: string; password: string };

async function createAccount({ email, token, name, password }: Sent): Promise<void> {
  await acceptInvitation(token, { name: name.trim(), password });
  dropToken();
  const signIn = { email, password, rememberMe: true };
  const isSignedIn = await postJson("/api/auth/sign-in/email", signIn).then(
    () => true,
    () => false,
  );
  // The account exists. Without a session the person signs in with the new password.
  window.location.assign(isSignedIn ? "/" : "/sign-in");
}

/** Creates the invited person's account, makes it a member, and signs in. */
export function NewAccountForm({ email, token }: { email: string; token: string }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const create = useMutation({ mutationFn: createAccount, networkMode: "always" });
  const isBusy = create.isPending || create.isSuccess;
  const problems = readProblems(create.error, { "/name": "Name", "/password": "Password" });
  function submit(event: FormEvent) {
    event.preventDefault();
    create.mutate({ email, token, name, password });
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
      <TextField
        autoComplete="name"
        autoFocus
        error={problems.at("/name")}
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <TextField
        autoComplete="new-password"
        error={problems.at("/password")}
        hint="At least 8 characters."
        label="Password"
        onChange={setPassword}
        type="password"
        value={password}
      />
      <p className="text-failed empty:hidden" role="alert">
        {problems.rest}
      </p>
      <Button className="h-9" disabled={isBusy} look="primary" type="submit">
        {isBusy ? "Creating the account" : "Create account and join"}
      </Button>
    </form>
  );
}
