import type { MemberActor, MemberRole } from "@/server/auth/actor";
import { MEMBER_ROLES } from "@/server/auth/actor";
import type { Services } from "@/server/services";

export type MemberLine = {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  joinedAt: string;
  /** Whether this is the reader. */
  self: boolean;
};

/** The organization's members: owners first, then by name. */
export async function listMembers({ db }: Services, actor: MemberActor): Promise<MemberLine[]> {
  const members = await db.member.findMany({
    where: { organizationId: actor.orgId },
    select: {
      role: true,
      createdAt: true,
      user: { select: { id: true, name: true, email: true } },
    },
    orderBy: { user: { name: "asc" } },
  });
  return members
    .map(({ role, createdAt, user }) => ({
      userId: user.id,
      name: user.name,
      email: user.email,
      role,
      joinedAt: createdAt.toISOString(),
      self: user.id === actor.userId,
    }))
    .sort((one, two) => MEMBER_ROLES.indexOf(two.role) - MEMBER_ROLES.indexOf(one.role));
}
