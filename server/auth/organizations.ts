import type { MemberActor, MemberRole } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";

/** An organization in the switcher. */
export type OrganizationLine = { id: string; slug: string; name: string; role: MemberRole; active: boolean };

export async function listOwnOrganizations(
  services: Services,
  actor: MemberActor,
): Promise<OrganizationLine[]> {
  const members = await services.db.member.findMany({
    where: { userId: actor.userId },
    select: { role: true, organization: { select: { id: true, slug: true, name: true } } },
    orderBy: { organization: { name: "asc" } },
  });
  return members.map(({ role, organization }) => ({
    ...organization,
    role,
    active: organization.id === actor.orgId,
  }));
}

/**
 * Makes an organization the active one of all the person's sessions. Throws not_found if they are not a member, whether or
 * not it exists.
 */
export async function switchOrganization(
  services: Services,
  actor: MemberActor,
  organizationId: string,
): Promise<void> {
  const member = await services.db.member.findUnique({
    where: { organizationId_userId: { organizationId, userId: actor.userId } },
  });
  if (!member) throw new AppError("not_found", "You are not a member of this organization.");
  await services.db.session.updateMany({
    where: { userId: actor.userId },
    data: { activeOrganizationId: organizationId },
  });
}
