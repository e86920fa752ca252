import { DEFAULT_KEY_SCOPES, KEY_SCOPES } from "@/server/base/actor";
import { createApiKey, revokeApiKey } from "@/server/catalog/organization/api-keys";
import { stateOfKey } from "@/server/catalog/overview";
import { choose, declareOrganizationCommand, option, readExpiry, renderTable, splitList } from "./command";
import { toPrintableLine } from "./printable";

export const keyCommands = [
  declareOrganizationCommand({
    name: "keys create",
    parameters: ["NAME"],
    summary: "Create an API key; it is printed once",
    options: {
      expires: option("WHEN", "a time such as 2027-01-31T00:00:00Z, or days such as 90d"),
      scopes: option("LIST", `of ${KEY_SCOPES.join(", ")}; default ${DEFAULT_KEY_SCOPES.join(", ")}`),
      agents: option("LIST", "slugs of the agents it is limited to"),
      tools: option("LIST", "slugs of the tools it is limited to"),
      "starts-per-minute": option("N", "starts in any 60 seconds; can only narrow the plan's limit"),
      "reads-per-minute": option(
        "N",
        "reads and cancels in any 60 seconds; can only narrow the plan's limit",
      ),
      "max-credits": option("N", "the most credits that one run may use"),
    },
    async run({ services, terminal, actor }, [name], { expires, scopes, agents, tools, ...limits }) {
      const made = await createApiKey(services, actor, {
        name,
        scopes:
          scopes === undefined
            ? [...DEFAULT_KEY_SCOPES]
            : splitList(scopes).map((scope) => choose(KEY_SCOPES, scope, "scope")),
        expiresAt: readExpiry(expires, services.clock.now()),
        agents: splitList(agents),
        tools: splitList(tools),
        startsPerMinute: toNumber(limits["starts-per-minute"]),
        readsPerMinute: toNumber(limits["reads-per-minute"]),
        maxCredits: limits["max-credits"] ?? null,
      });
      terminal.err(`Created the key ${made.name}. It is shown only once:`);
      return made.key;
    },
  }),
  declareOrganizationCommand({
    name: "keys list",
    summary: "List an organization's API keys",
    options: {},
    async run({ services, actor }) {
      const keys = await services.db.apiKey.findMany({
        where: { organizationId: actor.orgId },
        orderBy: { id: "asc" },
      });
      const now = services.clock.now();
      return renderTable(keys, {
        NAME: ({ name }) => name,
        PREFIX: ({ prefix }) => prefix,
        STATE: (key) => stateOfKey(key, now),
        SCOPES: ({ scopes }) => scopes.join(","),
        EXPIRES: ({ expiresAt }) => expiresAt ?? "never",
        "LAST USED": ({ lastUsedAt }) => lastUsedAt ?? "never",
      });
    },
  }),
  declareOrganizationCommand({
    name: "keys revoke",
    parameters: ["NAME|PREFIX"],
    summary: "Revoke an API key permanently",
    options: {},
    async run({ services, actor, slug }, [called]) {
      const found = await services.db.apiKey.findMany({
        where: { organizationId: actor.orgId, OR: [{ name: called }, { prefix: called }] },
        orderBy: { id: "asc" },
      });
      const live = found.filter(({ revokedAt }) => revokedAt === null);
      const [key, another] = live.length > 0 ? live : found;
      if (key === undefined) throw new Error(`${slug} has no API key with the name or prefix "${called}".`);
      const label = `The key ${toPrintableLine(key.name)} (${key.prefix}…)`;
      if (live.length === 0) return `${label} was already revoked. Nothing has changed.`;
      if (another !== undefined) {
        const names = live.map(({ name, prefix }) => `${toPrintableLine(name)} (${prefix})`).join(", ");
        throw new Error(`"${called}" matches several keys: ${names}. Nothing was revoked.`);
      }
      await revokeApiKey(services, actor, { id: key.id });
      return `${label} is revoked.`;
    },
  }),
];

function toNumber(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
