"use client";

import { type FormEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { Field } from "@/app/_ui/field";
import { targetAfterSignIn } from "./target";

/** Sends email and password to better-auth, then goes to the page that `?to=` names, or to the runs. */
export function SignInForm() {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      const response = await fetch("/api/auth/sign-in/email", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: form.get("email"), password: form.get("password"), rememberMe: true }),
      });
      if (response.ok) {
        // A full load: nothing that was cached for somebody else survives.
        window.location.assign(targetAfterSignIn(window.location.search, window.location.origin));
        return;
      }
      setProblem(explain(response.status));
    } catch {
      setProblem("The server could not be reached. Check the connection and try again.");
    }
    setBusy(false);
  }

  return (
    <form className="flex flex-col gap-4" method="post" onSubmit={signIn}>
      <Field autoComplete="username" label="Email" name="email" required type="email" />
      <Field autoComplete="current-password" label="Password" name="password" required type="password" />
      <p aria-live="polite" className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={busy} look="primary" type="submit">
        {busy ? "Signing in" : "Sign in"}
      </Button>
    </form>
  );
}

function explain(status: number): string {
  if (status === 401 || status === 400) return "This email and password do not go together.";
  if (status === 429) return "Too many tries. Wait a minute, then try again.";
  if (status === 403) return "The page was opened under another address than APP_URL names. Open it there.";
  return "Signing in failed on the server. The cause is in its log.";
}
