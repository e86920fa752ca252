import { MEMBER_ROLES } from "@/server/auth/actor";
import { createUser, setPassword } from "@/server/auth/sessions";
import { memberDefinition } from "@/server/catalog/definitions";
import { parseInput } from "@/server/catalog/issues";
import { saveMember } from "@/server/catalog/organization/members";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { removeUser } from "@/server/catalog/organization/users";
import {
  argument,
  CONFIRM_OPTIONS,
  CONFIRM_TEXTS,
  CommandError,
  confirm,
  defineCommand,
  renderTable,
  UsageError,
} from "./command";
import { describeKeys } from "./members";

const MIN_PASSWORD = 8;

export const createUserCommand = defineCommand({
  name: "users create",
  parameters: "EMAIL",
  summary: "Create an account, or add a person to an organization",
  optionTexts: [
    ["--name NAME", "display name; default: the part before the @"],
    ["--password PASSWORD", "if left out, it is asked for or read from standard input"],
    ["--org ORG", "add the person to this organization"],
    ["--role ROLE", `${MEMBER_ROLES.join(", ")}; default member`],
  ],
  options: {
    name: { type: "string" },
    password: { type: "string" },
    org: { type: "string" },
    role: { type: "string" },
  },
  async run({ services, terminal }, { values, positionals }) {
    const role = MEMBER_ROLES.find((known) => known === (values.role ?? "member"));
    if (role === undefined) throw new UsageError(`"${values.role}" is not a role.`);
    if (values.role !== undefined && values.org === undefined) {
      throw new UsageError("--role needs --org ORG.");
    }
    const { email } = parseInput(memberDefinition, { email: argument(positionals, 0) });
    const actor = values.org === undefined ? null : await operatorOf(services, values.org);
    const known = await services.db.user.findUnique({ where: { email } });
    if (known && !actor) throw new CommandError(`${email} already has an account.`);
    const password = known
      ? undefined
      : (values.password ?? (await terminal.readPassword(`Password for ${email}: `)));
    if (password !== undefined && password.length < MIN_PASSWORD) {
      throw new CommandError(`The password must have at least ${MIN_PASSWORD} characters.`);
    }
    const person = parseInput(memberDefinition, { email, name: values.name, password, role });
    if (actor) {
      const { saved } = await saveMember(services, actor, person);
      terminal.out(
        saved === "unchanged"
          ? `${email} is already ${role} of ${values.org}.`
          : `${email} is now ${role} of ${values.org}.`,
      );
    } else {
      const { name = email.split("@")[0] ?? email } = person;
      await createUser(services, { email, name, password: password ?? "" });
      terminal.out(
        `Created the account ${email}. To add it to an organization: users create ${email} --org ORG --role ROLE`,
      );
    }
  },
});

export const listUsersCommand = defineCommand({
  name: "users list",
  parameters: "",
  summary: "List the accounts with their organizations and roles",
  options: {},
  async run({ services, terminal }) {
    const users = await services.db.user.findMany({
      select: {
        email: true,
        name: true,
        members: { select: { role: true, organization: { select: { slug: true } } } },
      },
      orderBy: { email: "asc" },
    });
    const rows = users.map(({ email, name, members }) => [
      email,
      name,
      members.map(({ role, organization }) => `${organization.slug} (${role})`).join(", "),
    ]);
    terminal.out(renderTable(["EMAIL", "NAME", "ORGANIZATIONS"], rows));
  },
});

export const removeUserCommand = defineCommand({
  name: "users remove",
  parameters: "EMAIL",
  summary: "Delete an account with its sessions and memberships; its runs stay",
  optionTexts: CONFIRM_TEXTS,
  options: CONFIRM_OPTIONS,
  async run({ services, terminal }, { values, positionals }) {
    const email = argument(positionals, 0).toLowerCase();
    await confirm(terminal, values.yes, { what: `This deletes the account ${email}.`, word: email });
    const { organizations, keys } = await removeUser(services, email);
    const left = organizations.length > 0 ? ` and no longer a member of ${organizations.join(", ")}` : "";
    terminal.out(`${email} is removed${left}.`);
    if (keys.length > 0) terminal.out(describeKeys(keys));
  },
});

/** `users password EMAIL`: sets a new password. */
export const passwordCommand = defineCommand({
  name: "users password",
  parameters: "EMAIL",
  summary: "Set a person's password and sign them out everywhere",
  optionTexts: [["--password PASSWORD", "if left out, it is asked for or read from standard input"]],
  options: { password: { type: "string" } },
  async run({ services, terminal }, { values, positionals }) {
    const email = argument(positionals, 0).toLowerCase();
    const user = await services.db.user.findUnique({ where: { email } });
    if (!user) throw new CommandError(`${email} has no account.`);
    const password = values.password ?? (await terminal.readPassword(`New password for ${email}: `));
    if (password.length < MIN_PASSWORD || password.length > 128) {
      throw new CommandError(`The password must have ${MIN_PASSWORD} to 128 characters.`);
    }
    await setPassword(services, user.id, password);
    terminal.out(`${email} has a new password and is signed out everywhere.`);
  },
});
