import { postJson } from "@/app/_ui/data/query-client";
import type { readInvitation as read } from "@/server/catalog/organization/accept-invitation";

export type Invitation = Awaited<ReturnType<typeof read>>;

/** The calls of the invitation's page. They throw `CallError`. */
export const readInvitation = (token: string) => postJson<Invitation>("/api/invitations/read", { token });

/** `account` is for an email without one. */
export const acceptInvitation = (token: string, account?: { name: string; password: string }) =>
  postJson("/api/invitations/accept", { token, account });

const STORED = "stepwell-invitation";

/**
 * The token of the opened link. It is stored for this tab, so that it survives the visit to the sign-in page. It is
 * removed from the address, so that it is neither shown nor shared.
 */
export function takeToken(): string | null {
  const inAddress = window.location.hash.slice(1);
  if (inAddress !== "") {
    sessionStorage.setItem(STORED, inAddress);
    window.history.replaceState(null, "", window.location.pathname);
  }
  return sessionStorage.getItem(STORED);
}

export function dropToken(): void {
  sessionStorage.removeItem(STORED);
}
