"use client";

import { useMutation } from "@tanstack/react-query";
import { Button, buttonClass } from "@/app/_ui/button";
import { dropToken } from "@/app/_ui/data/link-token";
import { describeError } from "@/app/_ui/data/query-client";
import { OpenedLink } from "@/app/_ui/page/opened-link";
import { SignOutButton } from "@/app/_ui/sign-out";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import { acceptInvitation, type Invitation as Facts, INVITATION, readInvitation } from "./call";
import { NewAccountForm } from "./new-account-form";

/** Reads the invitation of the link, then offers the next step: an account, signing in, or joining. */
export function Invitation({ signedInAs }: { signedInAs: string | null }) {
  return (
    <OpenedLink
      closed="This invitation cannot be opened"
      link={INVITATION}
      read={readInvitation}
      title="Invitation"
    >
      {({ token, facts }) => (
        <div className="flex flex-col gap-4">
          <h1 className="font-semibold text-title [overflow-wrap:anywhere]">Join {facts.organization}</h1>
          <p className="text-muted [overflow-wrap:anywhere]">
            {facts.invitedBy} invites <span className="text-ink">{facts.email}</span> with the role{" "}
            {ROLE_LABELS[facts.role]}.
          </p>
          <NextStep facts={facts} signedInAs={signedInAs} token={token} />
        </div>
      )}
    </OpenedLink>
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
    onSuccess() {
      dropToken(INVITATION);
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
