import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import type { Services } from "@/server/services";

export type OrganizationLine = Awaited<ReturnType<typeof listOwnOrganizations>>[number];

/** The person's organizations, for the switcher. */
export async function listOwnOrganizations({ db }: Services, actor: MemberActor) {
  const members = await db.member.findMany({
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
  { db }: Services,
  actor: MemberActor,
  { organizationId }: { organizationId: string },
): Promise<void> {
  const member = await db.member.findUnique({
    where: { organizationId_userId: { organizationId, userId: actor.userId } },
  });
  if (!member) throw new AppError("not_found", "You are not a member of this organization.");
  await db.session.updateMany({
    where: { userId: actor.userId },
    data: { activeOrganizationId: organizationId },
  });
}
