import { isMap } from "yaml";
import type { ApiKeyActor, OperatorActor, OrgId } from "@/server/base/actor";
import { parseModelProviders } from "@/server/runs/find-model-providers";
import type { CatalogServices } from "../change";
import {
  declare,
  declareAgent,
  declareCallback,
  declareSchedule,
  declareTool,
  declareTrigger,
} from "../declare";
import { NEWEST } from "../definition-rows";
import { apiKeyDefinition, memberDefinition, organizationDefinition } from "../definitions";
import { among, ofTargets, targetIdsOf } from "../key-targets";
import { describePlan } from "../organization/organizations";
import { createYaml } from "./write-yaml";

const orUnset = <Item>(list: Item[]) => (list.length > 0 ? list : undefined);

type Db = Pick<CatalogServices, "db">;

/**
 * Exports an organization as a definition file, without ids, passwords, keys, tokens and values of secrets.
 * Applying it to the same organization changes nothing.
 */
export async function exportOrganization(services: Db, actor: OperatorActor): Promise<string> {
  const stored = await readDefinitions(services, actor);
  const organization = await declareOrganization(services, actor, stored);
  return writeFile({ ...organization, ...declareDefinitions(stored) }, stored);
}

/**
 * Exports what a key may read of its organization as a definition file, in YAML or as the value. Applying it with the
 * same key changes nothing.
 */
export async function exportDefinitions(services: Db, key: ApiKeyActor) {
  const stored = await readDefinitions(services, key);
  const { slug } = await services.db.organization.findUniqueOrThrow({
    where: { id: key.orgId },
    select: { slug: true },
  });
  const organization = { slug, ...declareDefinitions(stored) };
  return { file: { organizations: [organization] }, toYaml: () => writeFile(organization, stored) };
}

function writeFile(organization: object, { triggers }: StoredDefinitions): string {
  const document = createYaml({ organizations: [organization] });
  for (const [index, { secrets }] of triggers.entries()) {
    const node = document.getIn(["organizations", 0, "triggers", index]);
    if (secrets.length > 0 && isMap(node)) node.comment = " a secret is set; it is not exported";
  }
  return document.toString({ lineWidth: 0 });
}

type StoredDefinitions = Awaited<ReturnType<typeof readDefinitions>>;

/** Leaves out triggers, schedules and callbacks whose targets were deleted, and what a limited key may not read. */
async function readDefinitions({ db }: Db, actor: OperatorActor | ApiKeyActor) {
  const inUse = { organizationId: actor.orgId, deletedAt: null };
  const order = { orderBy: { id: "asc" } } as const;
  const ofAgentsAndTools = { where: { ...inUse, ...among(actor) }, ...order, include: { versions: NEWEST } };
  const ofOthers = { where: { ...inUse, ...ofTargets(actor) }, ...order };
  const [tools, agents, allTriggers, allSchedules, allCallbacks] = await Promise.all([
    db.tool.findMany(ofAgentsAndTools),
    db.agent.findMany(ofAgentsAndTools),
    db.trigger.findMany({ ...ofOthers, include: { agent: true, tool: true, secrets: true } }),
    db.schedule.findMany({ ...ofOthers, include: { agent: true, tool: true } }),
    db.callbackEndpoint.findMany({ where: { ...inUse, slug: { not: null } }, ...order }),
  ]);
  type Targeted = (typeof allTriggers)[number] | (typeof allSchedules)[number];
  const hasTarget = ({ agent, tool }: Targeted) => agent?.deletedAt === null || tool?.deletedAt === null;
  const targets = new Set([...tools, ...agents].map(({ id }) => id));
  const sources = new Set(allTriggers.map(({ id }) => id));
  // A callback whose targets were deleted would send all runs; those of a limited key name targets.
  const callbacks = allCallbacks.filter(
    ({ targetIds, triggerIds }) =>
      (targetIds.length > 0 || targetIdsOf(actor) === null) &&
      targetIds.every((id) => targets.has(id)) &&
      triggerIds.every((id) => sources.has(id)),
  );
  const [triggers, schedules] = [allTriggers.filter(hasTarget), allSchedules.filter(hasTarget)];
  return { tools, agents, triggers, schedules, callbacks };
}

const slugsIn = (rows: readonly { id: string; slug: string }[]) => {
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  return (ids: readonly string[]) => ids.flatMap((id) => slugs.get(id) ?? []);
};

function declareDefinitions({ tools, agents, triggers, schedules, callbacks }: StoredDefinitions) {
  const [agentSlugs, toolSlugs, triggerSlugs] = [slugsIn(agents), slugsIn(tools), slugsIn(triggers)];
  return {
    tools: tools.flatMap(({ versions: [version], ...tool }) =>
      version === undefined ? [] : [declareTool({ ...tool, ...version })],
    ),
    agents: agents.flatMap(({ versions: [version], ...agent }) => {
      return version === undefined ? [] : [declareAgent(agent, version)];
    }),
    triggers: triggers.map(declareTrigger),
    callbacks: orUnset(
      callbacks.map((callback) =>
        declareCallback(callback, {
          agents: agentSlugs(callback.targetIds),
          tools: toolSlugs(callback.targetIds),
          triggers: triggerSlugs(callback.triggerIds),
        }),
      ),
    ),
    schedules: orUnset(schedules.map(declareSchedule)),
  };
}

/** The parts of an operator's file that are no definitions, without keys whose targets were deleted. */
async function declareOrganization(
  { db }: Db,
  { orgId }: { orgId: OrgId },
  { agents, tools }: StoredDefinitions,
) {
  const stored = await db.organization.findUniqueOrThrow({
    where: { id: orgId },
    include: {
      plan: true,
      members: { orderBy: { id: "asc" }, include: { user: { select: { email: true, name: true } } } },
      apiKeys: { where: { revokedAt: null }, orderBy: { id: "asc" } },
      secrets: { orderBy: { name: "asc" }, select: { name: true, allowedHosts: true } },
      creditEntries: { where: { sequence: 1, kind: "grant" } },
    },
  });
  const { slug, name, plan, members, secrets } = stored;
  const [agentSlugs, toolSlugs] = [slugsIn(agents), slugsIn(tools)];
  const targets = new Set([...tools, ...agents].map(({ id }) => id));
  // A key whose targets were deleted would be unlimited.
  const apiKeys = stored.apiKeys.filter(({ targetIds }) => targetIds.every((id) => targets.has(id)));
  return {
    slug,
    name,
    plan: plan ? { ...describePlan(plan), monthlyCredits: plan.monthlyCredits.toNumber() } : {},
    ...declare(organizationDefinition.omit({ slug: true, name: true, plan: true }), {
      credits: stored.creditEntries[0]?.amount,
      modelProviders: orUnset(parseModelProviders(stored.modelProviders)),
    }),
    members: members.map(({ role, user }) => {
      const { email } = user;
      const isDefaultName = user.name === email.split("@")[0];
      return declare(memberDefinition, { email, name: isDefaultName ? null : user.name, role });
    }),
    apiKeys: apiKeys.map((key) =>
      declare(apiKeyDefinition, {
        ...key,
        agents: agentSlugs(key.targetIds),
        tools: toolSlugs(key.targetIds),
      }),
    ),
    secrets: orUnset(secrets.map((secret) => ({ name: secret.name, hosts: secret.allowedHosts }))),
  };
}
