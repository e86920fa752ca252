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
import { MAX_NAME_LENGTH } from "@/server/contract/limits";

const LINK = "set-up";
const readLink = (token: string) => postJson<object>("/api/set-up/read", { token });

type Draft = { organization: string; credits: string; name: string; email: string; password: string };

async function create({ token, ...draft }: Draft & { token: string }): Promise<void> {
  const { organization, credits, name, email, password } = draft;
  const input = {
    organization: organization.trim(),
    credits: credits.trim(),
    name: name.trim(),
    email: email.trim(),
    password,
  };
  await postJson("/api/set-up/use", { token, input });
  dropToken(LINK);
  await enter({ email: input.email, password });
}

export function SetUp() {
  return (
    <OpenedLink link={LINK} read={readLink} title="Set up Stepwell">
      {({ token }) => <SetUpForm token={token} />}
    </OpenedLink>
  );
}

function SetUpForm({ token }: { token: string }) {
  const { draft, field, send, dialog } = useForm(
    { mutationFn: create },
    {
      draft: { organization: "", credits: "1000", name: "", email: "", password: "" },
      labels: {
        "/organization": "Organization",
        "/credits": "First credits",
        "/name": "Your name",
        "/email": "Email",
        "/password": "Password",
      },
    },
  );
  const { mutation, problem } = dialog;
  const isBusy = mutation.isPending || mutation.isSuccess;
  function submit(event: FormEvent) {
    event.preventDefault();
    send({ token, ...draft });
  }
  return (
    <form className="flex flex-col gap-4 pb-10" noValidate onSubmit={submit}>
      <h1 className="font-semibold text-title">Set up Stepwell</h1>
      <p className="text-muted">
        Create the first organization and its owner. An organization has its own agents, tools, runs, members
        and credits.
      </p>
      <TextField
        {...field("organization")}
        autoFocus
        hint="Such as your company or team."
        maxLength={MAX_NAME_LENGTH}
      />
      <TextField
        {...field("credits")}
        hint="Runs cost credits. The operator can grant more at any time."
        inputMode="decimal"
      />
      <TextField {...field("name")} autoComplete="name" maxLength={MAX_NAME_LENGTH} />
      <TextField {...field("email")} autoComplete="username" type="email" />
      <TextField {...field("password")} autoComplete="new-password" hint={PASSWORD_HINT} type="password" />
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={isBusy} look="primary" type="submit">
        {isBusy ? "Creating" : "Create organization"}
      </Button>
    </form>
  );
}
