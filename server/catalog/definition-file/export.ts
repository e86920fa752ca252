import { Document, isMap } from "yaml";
import { readSettings } from "@/server/agent/definition";
import type { OperatorActor } from "@/server/auth/actor";
import { KEY_SCOPES } from "@/server/auth/actor";
import { readModelProviders } from "@/server/runs/find-model-providers";
import type { CatalogServices } from "../change";
import { describePlan } from "../organization/organizations";
import { DEADLINE, declareTool, written } from "./declare";

/**
 * Exports an organization as a definition file for `apply`, without ids, passwords, keys, tokens and values of secrets.
 * Applying it to the same organization changes nothing.
 */
export async function exportOrganization(
  services: Pick<CatalogServices, "db">,
  actor: OperatorActor,
): Promise<string> {
  const inUse = { where: { deletedAt: null }, orderBy: { id: "asc" } } as const;
  const newest = { orderBy: { number: "desc" }, take: 1 } as const;
  const found = await services.db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    include: {
      plan: true,
      members: { orderBy: { id: "asc" }, include: { user: { select: { email: true, name: true } } } },
      apiKeys: { where: { revokedAt: null }, orderBy: { id: "asc" } },
      secrets: { orderBy: { name: "asc" }, select: { name: true, allowedHosts: true } },
      tools: { ...inUse, include: { versions: newest } },
      agents: { ...inUse, include: { versions: newest } },
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
    ...written({ credits: found.creditEntries[0]?.amount.toNumber() }),
    members: found.members.map(({ role, user: { email, name } }) => ({
      email,
      ...written({ name }, { name: email.split("@")[0] }),
      role,
    })),
    apiKeys: apiKeys.map((key) => ({
      name: key.name,
      ...written(
        {
          scopes: key.scopes,
          expiresAt: key.expiresAt?.toISOString(),
          agents: slugsOf(key.targetIds, agentSlugs),
          tools: slugsOf(key.targetIds, toolSlugs),
          startsPerMinute: key.startsPerMinute,
          readsPerMinute: key.readsPerMinute,
          maxCredits: key.maxCredits?.toNumber(),
        },
        { scopes: [...KEY_SCOPES] },
      ),
    })),
    ...written({ modelProviders: readModelProviders(found.modelProviders) }),
    ...written({ secrets: found.secrets.map(({ name, allowedHosts }) => ({ name, hosts: allowedHosts })) }),
    tools: found.tools.flatMap(({ slug, name, description, versions: [version] }) =>
      version === undefined ? [] : [declareTool({ slug, name, description, ...version })],
    ),
    agents: found.agents.flatMap(({ slug, name, status, versions: [version] }) =>
      version === undefined
        ? []
        : [
            {
              slug,
              name,
              model: version.model,
              systemPrompt: version.systemPrompt,
              maxSteps: version.maxSteps,
              status,
              functions: version.functions,
              tools: slugsOf(version.toolIds, toolSlugs),
              ...written(readSettings(version.settings)),
              ...written(
                { maxCredits: version.maxCredits?.toNumber(), deadlineSeconds: version.deadlineSeconds },
                DEADLINE,
              ),
            },
          ],
    ),
    triggers: triggers.map((trigger) => ({
      slug: trigger.slug,
      ...written({ name: trigger.name }, { name: trigger.slug }),
      ...written({ agent: trigger.agent?.slug, tool: trigger.tool?.slug }),
      ...(trigger.disabledAt === null ? {} : { status: "inactive" }),
      ...(trigger.signatureScheme === "hex" ? {} : { signature: "standard-webhooks" }),
      rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
      ...written({ messageTemplate: trigger.messageTemplate, maxCredits: trigger.maxCredits?.toNumber() }),
    })),
  };

  const document = new Document({ organizations: [organization] }, { aliasDuplicateObjects: false });
  for (const [index, { secrets }] of triggers.entries()) {
    const node = document.getIn(["organizations", 0, "triggers", index]);
    if (secrets.length > 0 && isMap(node)) node.comment = " a secret is set; it is not exported";
  }
  return document.toString({ lineWidth: 0 });
}
