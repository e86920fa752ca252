"use client";

import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";
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
const otherOrganization = createStore<string | null>(null);

/** Call it with the response of each call that requires a member. */
export function noteResponse({ ok, status, headers }: Pick<Response, "headers" | "ok" | "status">): void {
  signedOut.set(status === 401 || (signedOut.read() && !ok));
  const other = headers.get(ORGANIZATION_HEADER);
  if (ok || other !== null) otherOrganization.set(other);
}

/** Returns true if the session has ended while the page was open. */
export const useSignedOut = signedOut.use;

/** Call it if the server has rendered content for the organization `id`, which is not the page's. */
export const noteOtherOrganization: (id: string) => void = otherOrganization.set;

/** The id of the organization that the session is in, if it is not the page's. */
export const useOtherOrganization = otherOrganization.use;
