import { Document, isMap } from "yaml";
import type { OperatorActor } from "@/server/auth/actor";
import { parseModelProviders } from "@/server/runs/find-model-providers";
import type { CatalogServices } from "../change";
import { NEWEST } from "../definition-rows";
import {
  agentDefinition,
  apiKeyDefinition,
  memberDefinition,
  organizationDefinition,
  triggerDefinition,
} from "../definitions";
import { describePlan } from "../organization/organizations";
import { agentContent } from "../save-agent";
import { signatureOf } from "../save-trigger";
import { declare, declareTool } from "./declare";

/** A list to write; an empty one is left out. */
const orUnset = <Item>(list: Item[]) => (list.length > 0 ? list : undefined);

/**
 * Exports an organization as a definition file for `apply`, without ids, passwords, keys, tokens and values of secrets.
 * Applying it to the same organization changes nothing.
 */
export async function exportOrganization(
  services: Pick<CatalogServices, "db">,
  actor: OperatorActor,
): Promise<string> {
  const inUse = { where: { deletedAt: null }, orderBy: { id: "asc" } } as const;
  const found = await services.db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    include: {
      plan: true,
      members: { orderBy: { id: "asc" }, include: { user: { select: { email: true, name: true } } } },
      apiKeys: { where: { revokedAt: null }, orderBy: { id: "asc" } },
      secrets: { orderBy: { name: "asc" }, select: { name: true, allowedHosts: true } },
      tools: { ...inUse, include: { versions: NEWEST } },
      agents: { ...inUse, include: { versions: NEWEST } },
      triggers: { ...inUse, include: { agent: true, tool: true, secrets: true } },
      creditEntries: { where: { sequence: 1, kind: "grant" } },
    },
  });
  const toolSlugs = new Map(found.tools.map(({ id, slug }) => [id, slug]));
  const agentSlugs = new Map(found.agents.map(({ id, slug }) => [id, slug]));
  const slugsOf = (ids: readonly string[], slugs: Map<string, string>) =>
    ids.flatMap((id) => slugs.get(id) ?? []);

  const triggers = found.triggers.filter(
    ({ agent, tool }) => agent?.deletedAt === null || tool?.deletedAt === null,
  );
  // A key whose targets were deleted would be unlimited.
  const apiKeys = found.apiKeys.filter(({ targetIds }) =>
    targetIds.every((id) => agentSlugs.has(id) || toolSlugs.has(id)),
  );
  const organization = {
    slug: found.slug,
    name: found.name,
    plan: found.plan
      ? { ...describePlan(found.plan), monthlyCredits: found.plan.monthlyCredits.toNumber() }
      : {},
    ...declare(organizationDefinition.omit({ slug: true, name: true, plan: true }), {
      credits: found.creditEntries[0]?.amount,
      modelProviders: orUnset(parseModelProviders(found.modelProviders)),
    }),
    members: found.members.map(({ role, user: { email, name } }) =>
      declare(memberDefinition, { email, name: name === email.split("@")[0] ? null : name, role }),
    ),
    apiKeys: apiKeys.map((key) =>
      declare(apiKeyDefinition, {
        ...key,
        agents: slugsOf(key.targetIds, agentSlugs),
        tools: slugsOf(key.targetIds, toolSlugs),
      }),
    ),
    secrets: orUnset(found.secrets.map(({ name, allowedHosts }) => ({ name, hosts: allowedHosts }))),
    tools: found.tools.flatMap(({ versions: [version], ...tool }) =>
      version === undefined ? [] : [declareTool({ ...tool, ...version })],
    ),
    agents: found.agents.flatMap(({ versions: [version], ...agent }) =>
      version === undefined
        ? []
        : [
            declare(agentDefinition, {
              ...agent,
              ...agentContent(version, toolSlugs),
              maxCredits: version.maxCredits,
            }),
          ],
    ),
    triggers: triggers.map((trigger) =>
      declare(triggerDefinition, {
        ...trigger,
        name: trigger.name === trigger.slug ? null : trigger.name,
        agent: trigger.agent?.slug,
        tool: trigger.tool?.slug,
        status: trigger.disabledAt === null ? "active" : "inactive",
        signature: signatureOf(trigger.signatureScheme),
        rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
      }),
    ),
  };

  const document = new Document(
    { organizations: [organization] },
    { aliasDuplicateObjects: false, keepUndefined: false },
  );
  for (const [index, { secrets }] of triggers.entries()) {
    const node = document.getIn(["organizations", 0, "triggers", index]);
    if (secrets.length > 0 && isMap(node)) node.comment = " a secret is set; it is not exported";
  }
  return document.toString({ lineWidth: 0 });
}
