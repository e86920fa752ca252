"use client";

import { useSyncExternalStore } from "react";

/** Whether the server said of the last call that nobody is signed in. One for the whole tab, as the cookie is. */
let signedOut = false;
const listeners = new Set<() => void>();

/** To be told of every answer to a call that only members may make. */
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
