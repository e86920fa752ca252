"use client";

import { Button } from "@/app/_ui/button";
import { deleteDrafts } from "@/app/_ui/data/browser-storage";
import { describeError, postJson } from "@/app/_ui/data/query-client";
import { notify } from "@/app/_ui/toast";

/** Ends the session, deletes drafts and loads another page, so that no data stays in the browser; or says why not. */
export async function signOut(target = "/sign-in"): Promise<void> {
  try {
    await postJson("/api/auth/sign-out", {});
  } catch (error) {
    return notify("You are still signed in", describeError(error).message);
  }
  deleteDrafts();
  window.location.assign(target);
}

export function SignOutButton({ target }: { target?: string }) {
  return <Button onClick={() => void signOut(target)}>Sign out</Button>;
}
