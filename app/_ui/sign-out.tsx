"use client";

import { Button } from "@/app/_ui/button";
import { deleteDrafts } from "@/app/_ui/drafts";

/** Ends the session, deletes drafts and reloads the sign-in page, so that no data stays in the browser. */
export async function signOut(): Promise<void> {
  await fetch("/api/auth/sign-out", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  deleteDrafts(localStorage);
  window.location.assign("/sign-in");
}

export function SignOutButton() {
  return <Button onClick={() => void signOut()}>Sign out</Button>;
}
