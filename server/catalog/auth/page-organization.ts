import type { MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { ORGANIZATION_HEADER } from "@/server/contract/page-organization";

/**
 * Throws `conflict` if the session is in another organization than the page that calls: the person switched in another
 * tab, or is no longer a member. @param shown the id of the page's organization; a call without one passes
 */
export function requirePageOrganization(actor: MemberActor, shown: string | null | undefined): void {
  if (!shown || shown === actor.orgId) return;
  const message =
    "This page shows another organization than the one you are in now. Switch back, or reload the page.";
  throw new AppError("conflict", message, { headers: { [ORGANIZATION_HEADER]: actor.orgId } });
}
