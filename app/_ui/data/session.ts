"use client";

import { createStore } from "./store";

/** Whether the last call was refused because nobody is signed in. Shared by the whole tab, like the cookie. */
const signedOut = createStore(false);

/** Call it with the response of each call that requires a member. */
export function noteResponse({ ok, status }: { ok: boolean; status: number }): void {
  signedOut.set(status === 401 || (signedOut.read() && !ok));
}

/** Whether the session has ended while the page was open. */
export const useSignedOut = signedOut.use;
