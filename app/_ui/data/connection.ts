"use client";

import { createStore } from "./store";

const lost = createStore(false);

/** Checks whether the server responds. Call it after a request or stream that broke off. */
export async function checkConnection(): Promise<boolean> {
  const reached = await fetch("/api/health", { cache: "no-store" }).then(
    () => true,
    () => false,
  );
  lost.set(!reached);
  return reached;
}

/** Returns true if the last check got no response. */
export const useConnectionLost = lost.use;

const signedOut = createStore(false);

/** Call it with the response of each call that requires a member. */
export function noteResponse({ ok, status }: { ok: boolean; status: number }): void {
  signedOut.set(status === 401 || (signedOut.read() && !ok));
}

/** Returns true if the session has ended while the page was open. */
export const useSignedOut = signedOut.use;
