import { readFile } from "node:fs/promises";
import { type AppliedOrganization, applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { DefinitionFileError } from "@/server/catalog/definition-file/definition-file";
import { exportOrganization } from "@/server/catalog/definition-file/export";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { argument, CommandError, defineCommand } from "./command";

/** `apply FILE.yaml`: declares organizations, agents, tools, triggers and keys. */
export const apply = defineCommand({
  name: "apply",
  parameters: "FILE.yaml",
  summary: "Create or update what a definition file declares",
  optionTexts: [["--json", "print one JSON object with ids, tokens and new keys"]],
  options: { json: { type: "boolean", default: false } },
  async run({ services, terminal }, { values, positionals }) {
    const file = argument(positionals, 0);
    const source = await readSource(file);
    let applied: AppliedOrganization[];
    try {
      applied = await applyDefinitionFile(services, source);
    } catch (error) {
      if (!(error instanceof DefinitionFileError)) throw error;
      throw new CommandError(
        [`${file} was not applied. Nothing has changed.`, ...error.lines.map((line) => `  ${line}`)].join(
          "\n",
        ),
      );
    }
    const report = applied.map((organization) => renderApplied(organization, !values.json)).join("\n");
    if (values.json) {
      terminal.err(report);
      terminal.out(JSON.stringify({ organizations: applied.map(toJson) }));
    } else {
      terminal.out(report);
    }
  },
});

/** `export ORG`: the organization as a definition file. */
export const exportCommand = defineCommand({
  name: "export",
  parameters: "ORG",
  summary: "Print an organization as a definition file, without secrets",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    terminal.out((await exportOrganization(services, actor)).trimEnd());
  },
});

async function readSource(file: string): Promise<string> {
  try {
    return await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "";
    const labels: Record<string, string> = {
      ENOENT: "the file does not exist",
      EACCES: "permission denied",
      EISDIR: "it is a directory",
    };
    throw new CommandError(`${file} cannot be read: ${labels[reason] ?? reason}.`, { cause: error });
  }
}

/** The documented fields of `--json` only (docs/definition-files.md). */
function toJson({ slug, id, agents, tools, triggers, apiKeys }: AppliedOrganization) {
  return {
    slug,
    id,
    agents: agents.map((agent) => ({ slug: agent.slug, id: agent.id })),
    tools: tools.map((tool) => ({ slug: tool.slug, id: tool.id })),
    triggers: triggers.map((trigger) => ({
      slug: trigger.slug,
      id: trigger.id,
      token: trigger.token,
      url: trigger.url,
    })),
    apiKeys: apiKeys.map(({ name, key }) => (key === undefined ? { name } : { name, key })),
  };
}

/** Secrets are omitted if standard output has them as JSON, because standard error often ends in a log. */
function renderApplied(organization: AppliedOrganization, withSecrets: boolean): string {
  const lines: string[] = [];
  const unchanged: string[] = [];
  const print = (saved: string, what: string, more = "") => {
    if (saved === "unchanged") unchanged.push(what);
    else lines.push(`  ${saved.padEnd(9)}  ${what}${more}`);
  };
  print(organization.saved, "the organization");
  for (const { saved, name } of organization.secrets) print(saved, `secret ${name}`);
  for (const { saved, slug, version } of organization.tools)
    print(saved, `tool ${slug}`, ` (version ${version})`);
  for (const { saved, slug, version } of organization.agents)
    print(saved, `agent ${slug}`, ` (version ${version})`);
  for (const { saved, slug, url } of organization.triggers)
    print(saved, `trigger ${slug}`, withSecrets ? `  ${url}` : "");
  for (const { saved, name, prefix } of organization.apiKeys)
    print(saved, `API key ${name}`, ` (${prefix}…)`);
  for (const { saved, email, role } of organization.members) print(saved, `member ${email}`, ` (${role})`);
  if (lines.length === 0) lines.push("  unchanged");
  else if (unchanged.length > 0) lines.push(`  unchanged  ${unchanged.length} more`);
  for (const { name } of organization.secrets.filter(({ isSet }) => !isSet)) {
    lines.push(
      `  The secret ${name} has no value yet. Set it: npm run -s stepwell -- secrets set ${organization.slug} ${name}`,
    );
  }
  for (const { name, key } of organization.apiKeys) {
    if (key !== undefined && withSecrets) lines.push(`  The key ${name}, shown this once: ${key}`);
  }
  return [organization.slug, ...lines].join("\n");
}
