"use client";

import { type FormEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { TextField } from "@/app/_ui/forms/form";
import { acceptInvitation, CallError } from "./call";
import { dropToken } from "./token";

const LABELS: Record<string, string> = { "/name": "Name", "/password": "Password" };

/** Creates the invited person's account, makes it a member, and signs in. */
export function NewAccountForm({ email, token }: { email: string; token: string }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<CallError | null>(null);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await acceptInvitation(token, { name: name.trim(), password });
    } catch (caught) {
      setError(caught instanceof CallError ? caught : new CallError("Something failed.", "internal_error"));
      setBusy(false);
      return;
    }
    dropToken();
    const signedIn = await fetch("/api/auth/sign-in/email", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password, rememberMe: true }),
    }).catch(() => null);
    // The account exists. Without a session the person signs in with the new password.
    window.location.assign(signedIn?.ok ? "/" : "/sign-in");
  }

  const at = (path: string) => {
    const issue = error?.issues.find((each) => each.path === path);
    return issue && `${LABELS[path]} ${issue.message}.`;
  };
  const rest = error?.issues.every(({ path }) => !(path in LABELS)) ? error.message : null;
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
        error={at("/name")}
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <TextField
        autoComplete="new-password"
        error={at("/password")}
        hint="At least 8 characters."
        label="Password"
        onChange={setPassword}
        type="password"
        value={password}
      />
      <p className="text-failed empty:hidden" role="alert">
        {rest}
      </p>
      <Button className="h-9" disabled={busy} look="primary" type="submit">
        {busy ? "Creating the account" : "Create account and join"}
      </Button>
    </form>
  );
}
