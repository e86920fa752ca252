import { MEMBER_ROLES, type MemberActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";

export type MemberLine = Awaited<ReturnType<typeof listMembers>>[number];

/** The organization's members: owners first, then by name. `self` is the reader. */
export async function listMembers({ db }: Services, actor: MemberActor) {
  const members = await db.member.findMany({
    where: { organizationId: actor.orgId },
    select: { role: true, createdAt: true, userId: true, user: { select: { name: true, email: true } } },
    orderBy: { user: { name: "asc" } },
  });
  return members
    .map(({ createdAt, user, ...member }) => ({
      ...member,
      ...user,
      joinedAt: createdAt.toISOString(),
      self: member.userId === actor.userId,
    }))
    .sort((one, two) => MEMBER_ROLES.indexOf(two.role) - MEMBER_ROLES.indexOf(one.role));
}
