import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";

/**
 * Throws `conflict` if the session is in another organization than the page that calls: the person switched in another
 * tab, or is no longer a member. @param shown the id of the page's organization; a call without one passes
 */
export function requirePageOrganization(actor: MemberActor, shown: string | null | undefined): void {
  const headers = organizationHeaders(actor, shown);
  if (!headers) return;
  const message =
    "This page shows another organization than the one you are in now. Reload the page to continue there.";
  throw new AppError("conflict", message, { headers });
}

/** Headers for a page that shows another organization than the session's; null for others. */
export function organizationHeaders({ orgId }: Pick<MemberActor, "orgId">, shown: string | null | undefined) {
  return !shown || shown === orgId ? null : { [ORGANIZATION_HEADER]: orgId };
}
