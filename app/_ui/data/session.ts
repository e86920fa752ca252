"use client";

import { useSyncExternalStore } from "react";

/** Whether the last call was refused because nobody is signed in. Shared by the whole tab, like the cookie. */
let signedOut = false;
const listeners = new Set<() => void>();

/** Call it with the response of each call that requires a member. */
export function noteResponse({ ok, status }: { ok: boolean; status: number }): void {
  const now = status === 401 || (signedOut && !ok);
  if (signedOut === now) return;
  signedOut = now;
  for (const listener of listeners) listener();
}

/** Whether the session has ended while the page was open. */
export function useSignedOut(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => signedOut,
    () => false,
  );
}
