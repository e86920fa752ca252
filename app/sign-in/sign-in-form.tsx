"use client";

import { type FormEvent, useState } from "react";
import { Button } from "@/app/_ui/button";
import { callServer, describeError } from "@/app/_ui/data/query-client";
import { UncontrolledField } from "@/app/_ui/forms/form";
import { JSON_TYPE } from "@/server/contract/media-types";
import { problemOfStatus, sentenceOf } from "./problem";

/**
 * Signs in and goes on to `target`. Without JavaScript the browser submits the form (app/api/sign-in), and a rejection
 * returns as `problem`.
 */
export function SignInForm({ target, problem: sent }: { target: string; problem: string | null }) {
  const [problem, setProblem] = useState(sent);
  const [busy, setBusy] = useState(false);

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      const response = await callServer("/api/auth/sign-in/email", {
        method: "POST",
        headers: { "content-type": JSON_TYPE },
        body: JSON.stringify({ email: form.get("email"), password: form.get("password"), rememberMe: true }),
      });
      if (response.ok) {
        // A full load: nothing cached for another user survives.
        window.location.assign(target);
        return;
      }
      setProblem(sentenceOf(problemOfStatus(response.status)));
    } catch (error) {
      setProblem(describeError(error).message);
    }
    setBusy(false);
  }

  return (
    <form
      action={`/api/sign-in?${new URLSearchParams({ to: target })}`}
      className="flex flex-col gap-4"
      method="post"
      onSubmit={signIn}
    >
      <UncontrolledField autoComplete="username" autoFocus label="Email" name="email" required type="email" />
      <UncontrolledField
        autoComplete="current-password"
        label="Password"
        name="password"
        required
        type="password"
      />
      <p aria-live="polite" className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={busy} look="primary" type="submit">
        {busy ? "Signing in" : "Sign in"}
      </Button>
    </form>
  );
}
