"use client";

import type { FormEvent } from "react";
import { Button } from "@/app/_ui/button";
import { postJson } from "@/app/_ui/data/query-client";
import { TextField } from "@/app/_ui/forms/form";
import { useForm } from "@/app/_ui/forms/use-form";
import { MAILED_LINK_LIFE } from "@/server/contract/limits";

const requestLink = ({ email }: { email: string }) => postJson<object>("/api/password/request", { email });

/** Asks for a link by email. The page does not tell whether the email has an account. */
export function RequestForm() {
  const { draft, field, send, sent, dialog } = useForm(
    { mutationFn: requestLink },
    { draft: { email: "" }, labels: { "/email": "Email" } },
  );
  const { mutation, problem } = dialog;
  function submit(event: FormEvent) {
    event.preventDefault();
    send({ email: draft.email.trim() });
  }
  if (mutation.isSuccess) {
    return (
      <p className="[overflow-wrap:anywhere]" role="status">
        If {sent?.email} has an account, a link is on its way. It works once, for {MAILED_LINK_LIFE.text}.
        Check your spam folder, too.
      </p>
    );
  }
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      <p className="text-muted">We send you a link with which you set a new one.</p>
      <TextField {...field("email")} autoComplete="username" autoFocus type="email" />
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={mutation.isPending} look="primary" type="submit">
        {mutation.isPending ? "Sending" : "Send link"}
      </Button>
    </form>
  );
}
