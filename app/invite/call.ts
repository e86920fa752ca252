import { postJson } from "@/app/_ui/data/query-client";
import type { readInvitation as read } from "@/server/catalog/organization/accept-invitation";

export type Invitation = Awaited<ReturnType<typeof read>>;

/** The calls of the invitation's page. They throw `CallError`. */
export const readInvitation = (token: string) => postJson<Invitation>("/api/invitations/read", { token });

/** `account` is for an email without one. */
export const acceptInvitation = (token: string, account?: { name: string; password: string }) =>
  postJson("/api/invitations/accept", { token, account });

/** The name of the link for `takeToken`. */
export const INVITATION = "invitation";
