import { MEMBER_ROLES } from "@/server/base/actor";
import { parseInput } from "@/server/base/issues";
import { CALL } from "@/server/base/settings/program";
import { createUser } from "@/server/catalog/auth/accounts";
import { memberDefinition } from "@/server/catalog/definitions";
import { removeMember, type SavedMember, saveMember } from "@/server/catalog/organization/members";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { createOperatorPasswordLink } from "@/server/catalog/organization/password-links";
import { setPasswordOf } from "@/server/catalog/organization/reset-password";
import { listKeysMadeBy, type RemovedUser, removeUser } from "@/server/catalog/organization/users";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import {
  choose,
  confirm,
  declareCommand,
  declareOrganizationCommand,
  type OrganizationContext,
  option,
  renderTable,
  UsageError,
  YES,
} from "./command";
import { toPrintableLine } from "./printable";

const PASSWORD = {
  password: option("PASSWORD", "if omitted, asked for or read from standard input"),
};

export const userCommands = [
  declareCommand({
    name: "users list",
    summary: "List the accounts with their organizations and roles",
    options: {},
    async run({ services }) {
      const users = await services.db.user.findMany({
        include: { members: { include: { organization: { select: { slug: true } } } } },
        orderBy: { email: "asc" },
      });
      return renderTable(users, {
        EMAIL: ({ email }) => email,
        NAME: ({ name }) => name,
        ORGANIZATIONS: ({ members }) =>
          members.map(({ role, organization }) => `${organization.slug} (${role})`).join(", "),
      });
    },
  }),
  declareCommand({
    name: "users create",
    parameters: ["EMAIL"],
    summary: "Create an account, or add a person to an organization",
    options: {
      name: option("NAME", "display name; default: the part before the @"),
      ...PASSWORD,
      org: option("ORG", "add the person to this organization"),
      role: option("ROLE", `${MEMBER_ROLES.join(", ")}; default member`),
    },
    async run({ services, terminal }, [given], { org, ...values }) {
      const role = choose(MEMBER_ROLES, values.role ?? "member", "role");
      if (values.role !== undefined && org === undefined) throw new UsageError("--role needs --org ORG.");
      const { email } = parseInput(memberDefinition, { email: given });
      const actor = org === undefined ? null : await operatorOf(services, org);
      const known = await services.db.user.findUnique({ where: { email }, include: { members: true } });
      if (known && !actor) throw new Error(`${email} already has an account.`);
      const member = known?.members.find(({ organizationId }) => organizationId === actor?.orgId);
      if (member && values.role === undefined) return `${email} is already ${member.role} of ${org}.`;
      const password = known
        ? undefined
        : (values.password ?? (await terminal.readPassword(`Password for ${email}: `)));
      if (password !== undefined && password.length < MIN_PASSWORD_LENGTH) {
        throw new Error(`The password must have at least ${MIN_PASSWORD_LENGTH} characters.`);
      }
      const person = parseInput(memberDefinition, { email, name: values.name, password, role });
      if (org !== undefined && actor) return describeSaved(await saveMember(services, actor, person), org);
      const { name = email.split("@")[0] ?? email } = person;
      await createUser(services.db, { email, name, password: password ?? "", at: services.clock.now() });
      return `Created the account ${email}. To add it to an organization: ${CALL} users create ${email} --org ORG --role ROLE`;
    },
  }),
  declareCommand({
    name: "users password",
    parameters: ["EMAIL"],
    summary: "Set a person's password and sign them out everywhere",
    options: PASSWORD,
    async run({ services, terminal }, [given], values) {
      const email = given.toLowerCase();
      const user = await services.db.user.findUnique({ where: { email } });
      if (!user) throw new Error(`${email} has no account.`);
      const password = values.password ?? (await terminal.readPassword(`New password for ${email}: `));
      if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
        throw new Error(
          `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`,
        );
      }
      await setPasswordOf(services, { email, password });
      return `${email} has a new password and is signed out everywhere.`;
    },
  }),
  declareCommand({
    name: "users password-link",
    parameters: ["EMAIL"],
    summary: "Print a link with which a person sets a new password, once",
    options: {},
    async run({ services }, [given]) {
      const email = given.toLowerCase();
      const { address, expiresAt } = await createOperatorPasswordLink(services, email);
      return `Send this link to ${email}. It works once, until ${expiresAt.toISOString()}:\n${address}`;
    },
  }),
  declareCommand({
    name: "users remove",
    parameters: ["EMAIL"],
    summary: "Delete an account with its sessions and memberships; its runs stay",
    options: YES,
    async run({ services, terminal }, [given], { yes }) {
      const email = given.toLowerCase();
      await confirm(terminal, yes, { what: `This deletes the account ${email}.`, word: email });
      const { organizations, keys } = await removeUser(services, email);
      const left = organizations.length > 0 ? ` and no longer a member of ${organizations.join(", ")}` : "";
      return withKeys(`${email} is removed${left}.`, keys);
    },
  }),
  declareOrganizationCommand({
    name: "members list",
    summary: "List the members of an organization",
    options: {},
    async run({ services, actor }) {
      const members = await services.db.member.findMany({
        where: { organizationId: actor.orgId },
        include: { user: true },
        orderBy: { user: { email: "asc" } },
      });
      return renderTable(members, {
        EMAIL: ({ user }) => user.email,
        NAME: ({ user }) => user.name,
        ROLE: ({ role }) => role,
        SINCE: ({ createdAt }) => createdAt,
      });
    },
  }),
  declareOrganizationCommand({
    name: "members role",
    parameters: ["EMAIL", "ROLE"],
    summary: "Change a member's role; the last owner must stay",
    choices: { ROLE: MEMBER_ROLES },
    options: {},
    async run(context, [given, wanted]) {
      const role = choose(MEMBER_ROLES, wanted, "role");
      const { email } = await findMember(context, given);
      const saved = await saveMember(context.services, context.actor, { email, role });
      return describeSaved(saved, context.slug);
    },
  }),
  declareOrganizationCommand({
    name: "members remove",
    parameters: ["EMAIL"],
    summary: "End a person's membership; the account stays",
    options: {},
    async run(context, [given]) {
      const { services, actor, slug } = context;
      const { userId, email } = await findMember(context, given);
      await removeMember(services, actor, { userId });
      const made = { userId, at: services.clock.now(), organizationId: actor.orgId };
      const keys = await listKeysMadeBy(services.db, made);
      return withKeys(`${email} is no longer a member of ${slug}.`, keys);
    },
  }),
];

/** A warning if the operator added an account that others may have made, such as an admin by an invitation. */
export function noticeOfAccount({ email, accountOf }: SavedMember): string[] {
  if (accountOf === null) return [];
  const organizations = accountOf.length > 0 ? accountOf.join(", ") : "no organization";
  return [
    `Warning: ${email} had an account already, as a member of ${organizations}, and keeps its password. ` +
      `If others may know it: ${CALL} users password ${email}`,
  ];
}

function describeSaved(member: SavedMember, slug: string): string {
  const { email, role, saved } = member;
  const done = `${email} is ${saved === "unchanged" ? "already" : "now"} ${role} of ${slug}.`;
  return [done, ...noticeOfAccount(member)].join("\n");
}

function withKeys(text: string, keys: RemovedUser["keys"]): string {
  if (keys.length === 0) return text;
  const names = keys.map(({ organization, name }) => `${toPrintableLine(name)} (${organization})`);
  const reminder = `These API keys, created by that person, keep working: ${names.join(", ")}. To revoke them:`;
  // By prefix: a shell could execute a name.
  const lines = keys.map(({ organization, prefix }) => `  ${CALL} keys revoke ${organization} ${prefix}`);
  return [text, reminder, ...lines].join("\n");
}

async function findMember({ services, actor, slug }: OrganizationContext, given: string) {
  const email = given.toLowerCase();
  const found = await services.db.member.findFirst({
    where: { organizationId: actor.orgId, user: { email } },
    select: { userId: true },
  });
  if (!found) throw new Error(`${email} is not a member of ${slug}.`);
  return { email, userId: found.userId };
}
