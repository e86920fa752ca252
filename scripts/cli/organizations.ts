import { parseInput } from "@/server/base/issues";
import { CALL } from "@/server/base/settings/program";
import { organizationDefinition } from "@/server/catalog/definitions";
import { createOrganization } from "@/server/catalog/organization/create-organization";
import { grantToOrganization } from "@/server/catalog/organization/organizations";
import { refundRun } from "@/server/credits/refund";
import { removeOrganization } from "@/server/operate/remove-organization";
import { resumeOrganization, suspendOrganization } from "@/server/operate/suspend-organization";
import {
  confirm,
  declareCommand,
  declareOrganizationCommand,
  flag,
  option,
  renderTable,
  UsageError,
  YES,
} from "./command";
import { noticeOfAccount } from "./users";

export const organizationCommands = [
  declareCommand({
    name: "organizations list",
    summary: "List the organizations with their balances",
    options: {},
    async run({ services }) {
      const found = await services.db.organization.findMany({
        orderBy: { slug: "asc" },
        include: { _count: { select: { agents: true, tools: true, members: true } } },
      });
      return renderTable(found, {
        ORG: ({ slug }) => slug,
        NAME: ({ name }) => name,
        STATE: ({ suspendedAt }) => (suspendedAt === null ? "active" : "suspended"),
        BALANCE: ({ balance }) => balance,
        AGENTS: ({ _count }) => _count.agents,
        TOOLS: ({ _count }) => _count.tools,
        MEMBERS: ({ _count }) => _count.members,
      });
    },
  }),
  declareCommand({
    name: "organizations create",
    parameters: ["ORG"],
    summary: "Create an organization, with its owner",
    options: {
      name: option("NAME", "display name; default: ORG"),
      credits: option("AMOUNT", "first credits; default 0"),
      owner: option("EMAIL", "its owner; an account is created if there is none"),
      password: option("PASSWORD", "of a new account; if omitted, asked for or read from standard input"),
    },
    async run({ services, terminal }, [slug], { name, credits, owner, password }) {
      const definition = parseInput(organizationDefinition, { slug, name, credits });
      const known =
        owner === undefined
          ? null
          : await services.db.user.findUnique({ where: { email: owner.toLowerCase() } });
      const isNew = owner !== undefined && known === null;
      const person =
        owner === undefined
          ? null
          : {
              email: owner,
              ...(isNew
                ? { password: password ?? (await terminal.readPassword(`Password for ${owner}: `)) }
                : {}),
            };
      const created = await createOrganization(services, { definition, owner: person });
      const lines = [`Created ${created.slug} with ${definition.credits ?? "0"} credits.`];
      if (created.owner !== null)
        lines.push(
          `${created.owner.email} is its owner: sign in at ${services.env.appUrl}`,
          ...noticeOfAccount(created.owner),
        );
      else lines.push(`To add its owner: ${CALL} users create EMAIL --org ${slug} --role owner`);
      if (definition.credits === undefined)
        lines.push(`Runs need credits: ${CALL} credits grant ${slug} 1000 --note "First credits"`);
      return lines.join("\n");
    },
  }),
  declareOrganizationCommand({
    name: "organizations suspend",
    summary: "Reject new runs of an organization and cancel its open runs",
    options: { reason: option("TEXT", "the reason, shown to members") },
    async run({ services, actor, slug }, _args, { reason = "" }) {
      const cancelled = await suspendOrganization(services, actor, reason);
      return `${slug} is suspended; ${cancelled === 1 ? "1 run was" : `${cancelled} runs were`} cancelled.`;
    },
  }),
  declareOrganizationCommand({
    name: "organizations resume",
    summary: "Let a suspended organization start runs again",
    options: {},
    run: async ({ services, actor, slug }) =>
      (await resumeOrganization(services, actor))
        ? `${slug} may start runs again.`
        : `${slug} was not suspended.`,
  }),
  declareOrganizationCommand({
    name: "organizations remove",
    summary: "Delete an organization and everything it owns, permanently",
    options: { ...YES, force: flag("cancel its open runs first") },
    async run({ services, terminal, actor, slug }, _args, { yes, force }) {
      const runs = await services.db.run.count({ where: { organizationId: actor.orgId } });
      await confirm(terminal, yes, {
        what: `This permanently deletes ${slug} with its definitions, API keys, ledger, audit log and ${runs} runs.`,
        word: slug,
      });
      const { strandedUsers } = await removeOrganization(services, actor, { force });
      const lines = [`${slug} is removed.`];
      if (strandedUsers.length > 0)
        lines.push("These accounts no longer belong to an organization. To remove them:");
      return [...lines, ...strandedUsers.map((email) => `  ${CALL} users remove ${email}`)].join("\n");
    },
  }),
  declareOrganizationCommand({
    name: "credits grant",
    parameters: ["AMOUNT"],
    summary: "Grant credits to an organization",
    options: { note: option("TEXT", "the reason, for the ledger") },
    async run({ services, actor, slug }, [amount], { note = "" }) {
      const balance = await grantToOrganization(services, actor, { amount, note });
      return `Granted ${amount} credits to ${slug}. Balance: ${balance.toFixed()}.`;
    },
  }),
  declareOrganizationCommand({
    name: "credits refund",
    parameters: ["RUN"],
    summary: "Refund what an ended run was charged, once",
    options: { note: option("TEXT", "the reason, for the ledger; required") },
    async run({ services, actor, slug }, [runId], { note }) {
      if (!note) throw new UsageError("--note is required: give the reason.");
      const { refunded, balance, isDeleted } = await refundRun(services, actor, { runId, note });
      const done = `Refunded ${refunded.toFixed()} credits to ${slug}. Balance: ${balance.toFixed()}.`;
      if (!isDeleted) return done;
      return `${done}\nThe run is deleted, so charges of runs that it called are not included. Refund each by its id.`;
    },
  }),
  declareOrganizationCommand({
    name: "credits show",
    summary: "Print an organization's balance",
    options: {},
    async run({ services, actor }) {
      const { balance } = await services.db.organization.findUniqueOrThrow({ where: { id: actor.orgId } });
      return balance.toFixed();
    },
  }),
];
