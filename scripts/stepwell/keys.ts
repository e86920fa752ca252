import { KEY_SCOPES } from "@/server/auth/actor";
import { createApiKey, revokeApiKey } from "@/server/catalog/organization/api-keys";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { stateOfKey } from "@/server/catalog/overview";
import {
  argument,
  CommandError,
  defineCommand,
  readExpiry,
  renderTable,
  splitList,
  UsageError,
} from "./command";

export const createKeyCommand = defineCommand({
  name: "keys create",
  parameters: "ORG NAME",
  summary: "Create an API key; it is printed once",
  optionTexts: [
    ["--expires WHEN", "a time such as 2027-01-31T00:00:00Z, or days such as 90d"],
    ["--scopes LIST", `of ${KEY_SCOPES.join(", ")}; default all`],
    ["--agents LIST", "slugs of the agents it is limited to"],
    ["--tools LIST", "slugs of the tools it is limited to"],
    ["--starts-per-minute N", "starts in any 60 seconds; can only narrow the plan's limit"],
    ["--reads-per-minute N", "reads and cancels in any 60 seconds; can only narrow the plan's limit"],
    ["--max-credits N", "the most credits that one run may use"],
  ],
  options: {
    expires: { type: "string" },
    scopes: { type: "string" },
    agents: { type: "string" },
    tools: { type: "string" },
    "starts-per-minute": { type: "string" },
    "reads-per-minute": { type: "string" },
    "max-credits": { type: "string" },
  },
  async run({ services, terminal }, { values, positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const scopes = values.scopes === undefined ? [...KEY_SCOPES] : splitList(values.scopes).map(toScope);
    const made = await createApiKey(services, actor, {
      name: argument(positionals, 1),
      scopes,
      expiresAt: readExpiry(values.expires, services.clock.now()),
      agents: splitList(values.agents),
      tools: splitList(values.tools),
      startsPerMinute: toNumber(values["starts-per-minute"]),
      readsPerMinute: toNumber(values["reads-per-minute"]),
      maxCredits: values["max-credits"] ?? null,
    });
    terminal.err(`Created the key ${made.name}. It is shown only once:`);
    terminal.out(made.key);
  },
});

export const revokeKeyCommand = defineCommand({
  name: "keys revoke",
  parameters: "ORG NAME|PREFIX",
  summary: "Revoke an API key permanently",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const slug = argument(positionals, 0);
    const called = argument(positionals, 1);
    const actor = await operatorOf(services, slug);
    const found = await services.db.apiKey.findMany({
      where: { organizationId: actor.orgId, OR: [{ name: called }, { prefix: called }] },
      orderBy: { id: "asc" },
    });
    const live = found.filter(({ revokedAt }) => revokedAt === null);
    const [key, another] = live.length > 0 ? live : found;
    if (key === undefined)
      throw new CommandError(`${slug} has no API key with the name or prefix "${called}".`);
    if (live.length === 0) {
      terminal.out(`The key ${key.name} (${key.prefix}…) was revoked before. Nothing has changed.`);
      return;
    }
    if (another !== undefined) {
      const names = live.map(({ name, prefix }) => `${name} (${prefix})`).join(", ");
      throw new CommandError(`"${called}" matches several keys: ${names}. Nothing was revoked.`);
    }
    await revokeApiKey(services, actor, { id: key.id });
    terminal.out(`The key ${key.name} (${key.prefix}…) is revoked.`);
  },
});

export const listKeysCommand = defineCommand({
  name: "keys list",
  parameters: "ORG",
  summary: "List an organization's API keys",
  options: {},
  async run({ services, terminal }, { positionals }) {
    const actor = await operatorOf(services, argument(positionals, 0));
    const keys = await services.db.apiKey.findMany({
      where: { organizationId: actor.orgId },
      orderBy: { id: "asc" },
    });
    const now = services.clock.now();
    const rows = keys.map((key) => [
      key.name,
      key.prefix,
      stateOfKey(key, now),
      key.scopes.join(","),
      key.expiresAt?.toISOString() ?? "never",
      key.lastUsedAt?.toISOString() ?? "never",
    ]);
    terminal.out(renderTable(["NAME", "PREFIX", "STATE", "SCOPES", "EXPIRES", "LAST USED"], rows));
  },
});

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function toScope(text: string) {
  const scope = KEY_SCOPES.find((known) => known === text);
  if (scope === undefined)
    throw new UsageError(`"${text}" is not a scope. Scopes: ${KEY_SCOPES.join(", ")}.`);
  return scope;
}
