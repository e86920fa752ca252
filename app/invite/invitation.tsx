"use client";

import { useEffect, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { SkeletonLine } from "@/app/_ui/page/page";
import { SignOutButton } from "@/app/_ui/sign-out";
import { ROLE_LABELS } from "@/app/(dashboard)/members/roles";
import { acceptInvitation, CallError, type Invitation as Facts, readInvitation } from "./call";
import { NewAccountForm } from "./new-account-form";
import { dropToken, takeToken } from "./token";

type State =
  | { step: "reading" }
  | { step: "open"; token: string; facts: Facts }
  /** `again`: whether the same link may still work. */
  | { step: "closed"; message: string; again: boolean };

const NO_TOKEN = "This address has no invitation. Open the complete link that you were sent.";

/** Reads the invitation of the link, then offers what is left to do: an account, signing in, or joining. */
export function Invitation({ signedInAs }: { signedInAs: string | null }) {
  const [state, setState] = useState<State>({ step: "reading" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    // Another link that is opened in this tab changes only the fragment.
    const again = () => setAttempt((before) => before + 1);
    window.addEventListener("hashchange", again);
    return () => window.removeEventListener("hashchange", again);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt reads again.
  useEffect(() => {
    let ended = false;
    const token = takeToken();
    const show = (next: State) => {
      if (!ended) setState(next);
    };
    if (token === null) show({ step: "closed", message: NO_TOKEN, again: false });
    else {
      readInvitation(token).then(
        (facts) => show({ step: "open", token, facts }),
        (error: unknown) => {
          const final = error instanceof CallError && error.code === "not_found";
          if (final) dropToken();
          show({ step: "closed", message: messageOf(error), again: !final });
        },
      );
    }
    return () => {
      ended = true;
    };
  }, [attempt]);

  if (state.step === "reading") {
    return (
      <div aria-busy="true" className="flex flex-col gap-4">
        <h1 className="font-semibold text-title">Invitation</h1>
        <SkeletonLine className="w-56" />
        <SkeletonLine className="w-40" />
      </div>
    );
  }
  if (state.step === "closed") {
    return (
      <div className="flex flex-col items-start gap-4">
        <h1 className="font-semibold text-title">This invitation cannot be opened</h1>
        <p className="text-muted" role="alert">
          {state.message}
        </p>
        {state.again ? (
          <Button look="primary" onClick={() => setAttempt((before) => before + 1)}>
            Try again
          </Button>
        ) : (
          <a className={buttonClass("primary")} href="/sign-in">
            Sign in
          </a>
        )}
      </div>
    );
  }
  const { token, facts } = state;
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
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  async function join() {
    setBusy(true);
    setProblem(null);
    try {
      await acceptInvitation(token);
      dropToken();
      window.location.assign("/");
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  }
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-failed empty:hidden" role="alert">
        {problem}
      </p>
      <Button className="h-9" disabled={busy} look="primary" onClick={() => void join()}>
        {busy ? "Joining" : "Join"}
      </Button>
    </div>
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "Something failed.";
}
