"use client";

import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";
import { createStore } from "./store";

const lost = createStore(false);

/** Checks whether the server responds. Call it after a request or stream that broke off or was rejected. */
export async function checkConnection(): Promise<boolean> {
  // A proxy in front of a server that is gone answers with 502 or 503.
  const reached = await fetch("/api/health", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
  lost.set(!reached);
  return reached;
}

/** Returns true if the server did not respond to the last check. */
export const useConnectionLost = lost.use;

const signedOut = createStore(false);
const otherOrganization = createStore<string | null>(null);

/** Call it with the response of each call that requires a member. */
export function noteResponse({ ok, status, headers }: Pick<Response, "headers" | "ok" | "status">): void {
  const other = headers.get(ORGANIZATION_HEADER);
  signedOut.set(status === 401 || (signedOut.read() && !ok && other === null));
  if (ok || other !== null) otherOrganization.set(other);
}

/** Returns true if the session has ended while the page was open. */
export const useSignedOut = signedOut.use;

/** The id of the session's organization, if the session is not of the page's organization and person. */
export const useOtherOrganization = otherOrganization.use;
