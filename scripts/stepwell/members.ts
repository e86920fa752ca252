import { MEMBER_ROLES } from "@/server/auth/actor";
import { removeMember, saveMember } from "@/server/catalog/organization/members";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { listKeysMadeBy, type RemovedUser } from "@/server/catalog/organization/users";
import type { Services } from "@/server/services";
import { argument, CommandError, defineCommand, renderTable, UsageError } from "./command";

export const listMembersCommand = defineCommand({
  name: "members list",
  parameters: "ORG",
  summary: "List the members of an organization",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const members = await services.db.member.findMany({
      where: { organizationId: actor.orgId },
      select: { role: true, createdAt: true, user: { select: { email: true, name: true } } },
      orderBy: { user: { email: "asc" } },
    });
    const rows = members.map(({ role, createdAt, user }) => [
      user.email,
      user.name,
      role,
      createdAt.toISOString(),
    ]);
    terminal.out(renderTable(["EMAIL", "NAME", "ROLE", "SINCE"], rows));
  },
});

export const memberRoleCommand = defineCommand({
  name: "members role",
  parameters: "ORG EMAIL ROLE",
  summary: "Change a member's role; the last owner must stay",
  optionTexts: [["ROLE", MEMBER_ROLES.join(", ")]],
  options: {},
  async run({ services, terminal }, { positionals }) {
    const slug = argument(positionals, 0);
    const wanted = argument(positionals, 2);
    const role = MEMBER_ROLES.find((known) => known === wanted);
    if (role === undefined) throw new UsageError(`"${wanted}" is not a role.`);
    const { actor, email } = await findMember(services, slug, argument(positionals, 1));
    const { saved } = await saveMember(services, actor, { email, role });
    terminal.out(
      saved === "unchanged"
        ? `${email} is already ${role} of ${slug}.`
        : `${email} is now ${role} of ${slug}.`,
    );
  },
});

export const removeMemberCommand = defineCommand({
  name: "members remove",
  parameters: "ORG EMAIL",
  summary: "End a person's membership; the account stays",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const slug = argument(positionals, 0);
    const { actor, userId, email } = await findMember(services, slug, argument(positionals, 1));
    await removeMember(services, actor, { userId });
    terminal.out(`${email} is no longer a member of ${slug}.`);
    const keys = await listKeysMadeBy(services.db, userId, actor.orgId);
    if (keys.length > 0) terminal.out(describeKeys(keys));
  },
});

/** A reminder for off-boarding: keys belong to the organization, not to the person who created them. */
export function describeKeys(keys: RemovedUser["keys"]): string {
  const lines = keys.map(({ organization, name }) => `  keys revoke ${organization} ${JSON.stringify(name)}`);
  return ["These API keys, created by that person, keep working. To revoke them:", ...lines].join("\n");
}

async function findMember(services: Services, slug: string, given: string) {
  const actor = await operatorOf(services, slug);
  const email = given.toLowerCase();
  const found = await services.db.member.findFirst({
    where: { organizationId: actor.orgId, user: { email } },
    select: { userId: true },
  });
  if (!found) throw new CommandError(`${email} is not a member of ${slug}.`);
  return { actor, email, userId: found.userId };
}
