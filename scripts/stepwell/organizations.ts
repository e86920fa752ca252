import { operatorOf } from "@/server/catalog/organization/organizations";
import { removeOrganization } from "@/server/operate/remove-organization";
import { resumeOrganization, suspendOrganization } from "@/server/operate/suspend-organization";
import { argument, CONFIRM_OPTIONS, CONFIRM_TEXTS, confirm, defineCommand, renderTable } from "./command";

export const listOrganizationsCommand = defineCommand({
  name: "organizations list",
  parameters: "",
  summary: "List the organizations with their balances",
  options: {},
  async run({ services, terminal }) {
    const found = await services.db.organization.findMany({
      orderBy: { slug: "asc" },
      include: { _count: { select: { agents: true, tools: true, members: true } } },
    });
    const rows = found.map(({ slug, name, balance, suspendedAt, _count }) => [
      slug,
      name,
      suspendedAt === null ? "active" : "suspended",
      balance.toFixed(),
      String(_count.agents),
      String(_count.tools),
      String(_count.members),
    ]);
    const right = ["BALANCE", "AGENTS", "TOOLS", "MEMBERS"];
    terminal.out(renderTable(["ORG", "NAME", "STATE", ...right], rows, right));
  },
});

export const removeOrganizationCommand = defineCommand({
  name: "organizations remove",
  parameters: "ORG",
  summary: "Delete an organization and everything it owns, permanently",
  optionTexts: [...CONFIRM_TEXTS, ["--force", "cancel its open runs first"]],
  options: { ...CONFIRM_OPTIONS, force: { type: "boolean", default: false } },
  async run({ services, terminal }, { values, positionals }) {
    const slug = argument(positionals, 0);
    const actor = await operatorOf(services, slug);
    const runs = await services.db.run.count({ where: { organizationId: actor.orgId } });
    await confirm(terminal, values.yes, {
      what: `This permanently deletes ${slug} with its definitions, API keys, ledger, audit log and ${runs} runs.`,
      word: slug,
    });
    const { strandedUsers } = await removeOrganization(services, actor, { force: values.force });
    terminal.out(`${slug} is removed.`);
    if (strandedUsers.length > 0) {
      terminal.out(
        [
          "These accounts no longer belong to an organization. To remove them:",
          ...strandedUsers.map((email) => `  users remove ${email}`),
        ].join("\n"),
      );
    }
  },
});

export const suspendCommand = defineCommand({
  name: "organizations suspend",
  parameters: "ORG",
  summary: "Refuse new runs of an organization and cancel its open runs",
  optionTexts: [["--reason TEXT", "the reason, shown to members"]],
  options: { reason: { type: "string", default: "" } },
  async run({ services, terminal }, { values, positionals }) {
    const slug = argument(positionals, 0);
    const actor = await operatorOf(services, slug);
    const cancelled = await suspendOrganization(services, actor, values.reason);
    terminal.out(
      `${slug} is suspended; ${cancelled === 1 ? "1 run was" : `${cancelled} runs were`} cancelled.`,
    );
  },
});

export const resumeCommand = defineCommand({
  name: "organizations resume",
  parameters: "ORG",
  summary: "Let a suspended organization start runs again",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const slug = argument(positionals, 0);
    const resumed = await resumeOrganization(services, await operatorOf(services, slug));
    terminal.out(resumed ? `${slug} may start runs again.` : `${slug} was not suspended.`);
  },
});
