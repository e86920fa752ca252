"use client";

import { Button } from "@/app/_ui/button";
import { deleteDrafts } from "@/app/_ui/data/browser-storage";
import { JSON_TYPE } from "@/server/contract/media-types";

/** Ends the session, deletes drafts and loads another page, so that no data stays in the browser. */
export async function signOut(target = "/sign-in"): Promise<void> {
  await fetch("/api/auth/sign-out", {
    method: "POST",
    headers: { "content-type": JSON_TYPE },
    body: "{}",
  });
  deleteDrafts();
  window.location.assign(target);
}

export function SignOutButton({ target }: { target?: string }) {
  return <Button onClick={() => void signOut(target)}>Sign out</Button>;
}
