import { CALL } from "@/server/base/settings/program";
import { removeDefinition } from "@/server/catalog/archive";
import { removeCallback } from "@/server/catalog/callbacks/change-callback";
import { type AppliedOrganization, applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { DefinitionFileError, readDefinitionFile } from "@/server/catalog/definition-file/definition-file";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import {
  choose,
  declareCommand,
  declareOrganizationCommand,
  flag,
  type OrganizationContext,
  withoutLastBreak,
} from "./command";
import { readSource } from "./read-source";
import { noticeOfAccount } from "./users";

const KINDS = ["agent", "tool", "trigger", "schedule", "callback"] as const;

export const definitionCommands = [
  declareCommand({
    name: "apply",
    parameters: ["FILE.yaml"],
    summary: "Create or update what a definition file declares",
    options: { json: flag("print one JSON object with ids, tokens and new keys") },
    async run({ services, terminal }, [file], { json }) {
      const source = await readSource(file, terminal);
      const applied = await applyDefinitionFile(services, source).catch((error: unknown) => {
        if (!(error instanceof DefinitionFileError)) throw error;
        const lines = [`${file} was not applied. Nothing has changed.`, ...describeIssues(error)];
        throw new Error(lines.join("\n"));
      });
      const report = applied.map((organization) => renderApplied(organization, !json)).join("\n");
      if (!json) return report;
      terminal.err(report);
      terminal.out(JSON.stringify({ organizations: applied.map(toJson) }));
      return "";
    },
  }),
  declareOrganizationCommand({
    name: "export",
    summary: "Print an organization as a definition file, without secrets",
    options: {},
    async run({ services, terminal, actor }) {
      const file = withoutLastBreak(await exportOrganization(services, actor));
      const issues = await findIssues(file);
      terminal.out(file);
      if (issues.length === 0) return "";
      terminal.err(["The file is printed, but `apply` would reject it:", ...issues].join("\n"));
      return false;
    },
  }),
  declareOrganizationCommand({
    name: "remove",
    parameters: ["KIND", "SLUG"],
    summary: "Remove an agent, tool, trigger, schedule or callback; runs stay",
    choices: { KIND: KINDS },
    options: {},
    async run(context, [given, slug]) {
      const kind = choose(KINDS, given, "kind");
      if (kind === "callback") await removeCallbackBySlug(context, slug);
      else await removeDefinition(context.services, context.actor, { kind, slug });
      return `The ${kind} ${slug} is removed.`;
    },
  }),
];

/** The reasons for which `apply` rejects a file at first sight, such as its size. */
async function findIssues(source: string): Promise<string[]> {
  try {
    const { issues, reject } = await readDefinitionFile(source);
    return issues.length > 0 ? describeIssues(reject(issues)) : [];
  } catch (error) {
    if (error instanceof DefinitionFileError) return describeIssues(error);
    throw error;
  }
}

const describeIssues = ({ lines }: DefinitionFileError) => lines.map((line) => `  ${line}`);

async function removeCallbackBySlug(
  { services, actor }: Pick<OrganizationContext, "services" | "actor">,
  slug: string,
): Promise<void> {
  const where = { organizationId: actor.orgId, slug, deletedAt: null };
  const found = await services.db.callbackEndpoint.findFirst({ where, select: { id: true } });
  if (found === null) throw new Error(`There is no callback "${slug}".`);
  await removeCallback(services, actor, { id: found.id });
}

function toJson(organization: AppliedOrganization) {
  const { slug, id, agents, tools, triggers, callbacks, schedules, apiKeys } = organization;
  return {
    slug,
    id,
    agents: agents.map((agent) => ({ slug: agent.slug, id: agent.id })),
    tools: tools.map((tool) => ({ slug: tool.slug, id: tool.id })),
    triggers: triggers.map(({ slug, id, token, url }) => ({ slug, id, token, url })),
    // JSON omits secret and key unless this call created them.
    callbacks: callbacks.map(({ slug, id, secret }) => ({
      slug,
      id,
      ...(secret === null ? {} : { secret }),
    })),
    schedules: schedules.map(({ slug, id }) => ({ slug, id })),
    apiKeys: apiKeys.map(({ name, key }) => ({ name, key })),
  };
}

/** Omits secrets if standard output has them as JSON, because standard error often ends in a log. */
function renderApplied(organization: AppliedOrganization, withSecrets: boolean): string {
  const { slug, secrets, tools, agents, triggers, schedules, callbacks, apiKeys, members } = organization;
  const parts = [
    { saved: organization.saved, what: "the organization" },
    ...secrets.map(({ saved, name }) => ({ saved, what: `secret ${name}` })),
    ...tools.map(({ saved, slug, version }) => ({ saved, what: `tool ${slug} (version ${version})` })),
    ...agents.map(({ saved, slug, version }) => ({ saved, what: `agent ${slug} (version ${version})` })),
    ...triggers.map(({ saved, slug, url }) => ({
      saved,
      what: `trigger ${slug}${withSecrets ? `  ${url}` : ""}`,
    })),
    ...schedules.map(({ saved, slug }) => ({ saved, what: `schedule ${slug}` })),
    ...callbacks.map(({ saved, slug }) => ({ saved, what: `callback ${slug}` })),
    ...apiKeys.map(({ saved, name, prefix }) => ({ saved, what: `API key ${name} (${prefix}…)` })),
    ...members.map(({ saved, email, role }) => ({ saved, what: `member ${email} (${role})` })),
  ];
  const changed = parts.filter(({ saved }) => saved !== "unchanged");
  const lines = changed.map(({ saved, what }) => `  ${saved.padEnd(9)}  ${what}`);
  if (lines.length === 0) lines.push("  unchanged");
  else if (lines.length < parts.length) lines.push(`  unchanged  ${parts.length - lines.length} more`);
  for (const { name } of secrets.filter(({ isSet }) => !isSet)) {
    lines.push(`  The secret ${name} has no value yet. Set it: ${CALL} secrets set ${slug} ${name}`);
  }
  for (const { name, hosts, waitingHosts } of secrets.filter(({ saved }) => saved === "updated")) {
    if (waitingHosts.length === 0) continue;
    const command = `${CALL} secrets set ${slug} ${name} --hosts ${hosts.join(",")}`;
    lines.push(
      `  The secret ${name} may not be sent to ${waitingHosts.join(", ")} yet. Set it again: ${command}`,
    );
  }
  for (const { slug, secret } of callbacks) {
    if (secret !== null && withSecrets) {
      lines.push(`  The secret of the callback ${slug}, shown this once: ${secret}`);
    }
  }
  for (const member of members) lines.push(...noticeOfAccount(member).map((line) => `  ${line}`));
  for (const { name, key } of apiKeys) {
    if (key !== undefined && withSecrets) lines.push(`  The key ${name}, shown this once: ${key}`);
  }
  return [slug, ...lines].join("\n");
}
