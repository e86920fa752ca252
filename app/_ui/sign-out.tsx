"use client";

import { Button } from "@/app/_ui/button";

/** Ends the session and reloads the sign-in page, so that no data stays in memory. */
export async function signOut(): Promise<void> {
  await fetch("/api/auth/sign-out", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  window.location.assign("/sign-in");
}

export function SignOutButton() {
  return <Button onClick={() => void signOut()}>Sign out</Button>;
}
