"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { CallError, describeError } from "@/app/_ui/data/query-client";
import { SkeletonLine } from "@/app/_ui/page/page";
import { SignOutButton } from "@/app/_ui/sign-out";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import { acceptInvitation, dropToken, type Invitation as Facts, readInvitation, takeToken } from "./call";
import { NewAccountForm } from "./new-account-form";

const NO_TOKEN = {
  code: "not_found",
  message: "This address has no invitation. Open the complete link that you were sent.",
  issues: [],
};

async function openInvitation(): Promise<{ token: string; facts: Facts }> {
  const token = takeToken();
  if (token === null) throw new CallError(NO_TOKEN);
  return { token, facts: await readInvitation(token) };
}

/** Reads the invitation of the link, then offers the next step: an account, signing in, or joining. */
export function Invitation({ signedInAs }: { signedInAs: string | null }) {
  const [attempt, setAttempt] = useState(0);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  useEffect(() => {
    // Another link that is opened in this tab changes only the fragment.
    window.addEventListener("hashchange", again);
    return () => window.removeEventListener("hashchange", again);
  }, [again]);
  const query = useQuery({
    queryKey: ["invitation", attempt],
    queryFn: openInvitation,
    networkMode: "always",
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isFinal = query.isError && describeError(query.error).code === "not_found";
  useEffect(() => {
    if (isFinal) dropToken();
  }, [isFinal]);

  if (query.isPending) {
    return (
      <div aria-busy="true" className="flex flex-col gap-4">
        <h1 className="font-semibold text-title">Invitation</h1>
        <SkeletonLine className="w-56" />
        <SkeletonLine className="w-40" />
      </div>
    );
  }
  if (query.isError) {
    return (
      <div className="flex flex-col items-start gap-4">
        <h1 className="font-semibold text-title">This invitation cannot be opened</h1>
        <p className="text-muted" role="alert">
          {describeError(query.error).message}
        </p>
        {isFinal ? (
          <a className={buttonClass("primary")} href="/sign-in">
            Sign in
          </a>
        ) : (
          <Button look="primary" onClick={again}>
            Try again
          </Button>
        )}
      </div>
    );
  }
  const { token, facts } = query.data;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="font-semibold text-title [overflow-wrap:anywhere]">Join {facts.organization}</h1>
      <p className="text-muted [overflow-wrap:anywhere]">
        {facts.invitedBy} invites <span className="text-ink">{facts.email}</span> with the role{" "}
        {ROLE_LABELS[facts.role]}.
      </p>
      <NextStep facts={facts} signedInAs={signedInAs} token={token} />
    </div>
  );
}

function NextStep({ facts, token, signedInAs }: { facts: Facts; token: string; signedInAs: string | null }) {
  if (signedInAs !== null && signedInAs !== facts.email) {
    return (
      <div className="flex flex-col items-start gap-3">
        <p>
          You are signed in as {signedInAs}. Sign out to go on as {facts.email}.
        </p>
        <SignOutButton target="/invite" />
      </div>
    );
  }
  if (signedInAs !== null) return <Join token={token} />;
  if (!facts.hasAccount) return <NewAccountForm email={facts.email} token={token} />;
  return (
    <div className="flex flex-col items-start gap-3">
      <p>This email has an account.</p>
      <a className={buttonClass("primary")} href="/sign-in?to=%2Finvite">
        Sign in to join
      </a>
    </div>
  );
}

function Join({ token }: { token: string }) {
  const join = useMutation({
    mutationFn: () => acceptInvitation(token),
    networkMode: "always",
    onSuccess() {
      dropToken();
      window.location.assign("/");
    },
  });
  const isBusy = join.isPending || join.isSuccess;
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-failed empty:hidden" role="alert">
        {join.error && describeError(join.error).message}
      </p>
      <Button className="h-9" disabled={isBusy} look="primary" onClick={() => join.mutate()}>
        {isBusy ? "Joining" : "Join"}
      </Button>
    </div>
  );
}
