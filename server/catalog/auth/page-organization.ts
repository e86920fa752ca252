import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { ORGANIZATION_HEADER, pageOf } from "@/server/contract/page-organization";

/**
 * Throws `conflict` if the page that calls is of another organization than the session, or of another person: somebody
 * switched or signed in in another tab, or is no longer a member. @param shown the page's `pageOf`; a call without one
 * passes
 */
export function requirePageOrganization(actor: MemberActor, shown: string | null | undefined): void {
  const headers = organizationHeaders(actor, shown);
  if (!headers) return;
  const message = shown?.startsWith(`${actor.orgId}.`)
    ? "You are signed in as another person than this page shows. Reload the page to continue."
    : "This page shows another organization than the one you are in now. Reload the page to continue there.";
  throw new AppError("conflict", message, { headers });
}

/** Headers for a page of another organization or person than the session; null for others. */
export function organizationHeaders(
  actor: Pick<MemberActor, "orgId" | "userId">,
  shown: string | null | undefined,
) {
  return !shown || shown === pageOf(actor) ? null : { [ORGANIZATION_HEADER]: actor.orgId };
}
