import { isMap } from "yaml";
import { z } from "zod";
import type { ApiKeyActor, OperatorActor, OrgId } from "@/server/base/actor";
import type { Agent, Tool } from "@/server/base/db/generated/client";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { writeJson } from "@/server/base/json/json";
import { isDeeper } from "@/server/base/json/text";
import { formatLimit } from "@/server/contract/sizes";
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
import { apiKeyDefinition, memberDefinition, organizationDefinition } from "../definitions";
import { among, ofTargets, targetIdsOf } from "../key-targets";
import { describePlan, FIRST_GRANT } from "../organization/organizations";
import { createYaml } from "./write-yaml";
import { MAX_FILE_BYTES, MAX_FILE_DEPTH } from "./yaml-document";

const orUnset = <Item>(list: Item[]) => (list.length > 0 ? list : undefined);

type Db = Pick<CatalogServices, "db">;

/**
 * Exports an organization as a definition file, without ids, passwords, keys, tokens and values of secrets.
 * Applying it to the same organization changes nothing.
 */
export async function exportOrganization(
  services: Pick<CatalogServices, "db" | "clock">,
  actor: OperatorActor,
): Promise<string> {
  const stored = await readDefinitions(services, actor);
  const organization = await declareOrganization(services, actor, stored);
  return writeFile({ ...organization, ...declareDefinitions(stored) }, stored);
}

/**
 * Exports what a key may read of its organization as a definition file, in YAML or as the value. Applying it with the
 * same key changes nothing. Throws `invalid_request` if the definitions are too large or too deep for one file.
 */
export async function exportDefinitions(services: Db & { pool: Queryable }, key: ApiKeyActor) {
  await requireSmall(services.pool, key);
  const stored = await readDefinitions(services, key);
  const { slug } = await services.db.organization.findUniqueOrThrow({
    where: { id: key.orgId },
    select: { slug: true },
  });
  const organization = { slug, ...declareDefinitions(stored) };
  const file = { organizations: [organization] };
  const text = writeJson(file);
  requireFits(text);
  if (isDeeper(text, MAX_FILE_DEPTH)) {
    const message = `A definition is nested deeper than the ${MAX_FILE_DEPTH} levels of a definition file. ${INSTEAD}`;
    throw new AppError("invalid_request", message);
  }
  return { file, toYaml: () => requireFits(writeFile(organization, stored)) };
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

const MEASURE = defineQuery(
  "measure-definitions",
  z.object({ bytes: z.number() }),
  `SELECT coalesce(sum(s.bytes), 0)::float8 AS bytes FROM (
     SELECT octet_length(v.definition) AS bytes FROM tools t JOIN tool_versions v ON v.tool_id = t.id AND v.number = t.version
     WHERE t.organization_id = $1 AND t.deleted_at IS NULL AND ($2::uuid[] IS NULL OR t.id = ANY($2))
     UNION ALL
     SELECT octet_length(v.definition) FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.number = a.version
     WHERE a.organization_id = $1 AND a.deleted_at IS NULL AND ($2::uuid[] IS NULL OR a.id = ANY($2))
     UNION ALL
     SELECT octet_length(s.input) FROM schedules s WHERE s.organization_id = $1 AND s.deleted_at IS NULL
       AND ($2::uuid[] IS NULL OR coalesce(s.agent_id, s.tool_id) = ANY($2))
   ) s`,
);

const INSTEAD = "Read agents and tools one by one.";

/** Before they are read: the text of larger ones takes seconds to write. */
async function requireSmall(pool: Queryable, key: ApiKeyActor): Promise<void> {
  const [measured] = await MEASURE(pool, [key.orgId, targetIdsOf(key)]);
  if (measured !== undefined) requireBytes(measured.bytes);
}

function requireFits(text: string): string {
  requireBytes(Buffer.byteLength(text));
  return text;
}

function requireBytes(bytes: number): void {
  if (bytes <= MAX_FILE_BYTES) return;
  const most = formatLimit(MAX_FILE_BYTES);
  const message = `The definitions have more than ${most}, the most that a definition file may have. ${INSTEAD}`;
  throw new AppError("invalid_request", message);
}

/** Leaves out triggers, schedules and callbacks whose targets were deleted, and what a limited key may not read. */
async function readDefinitions({ db }: Db, actor: OperatorActor | ApiKeyActor) {
  const inUse = { organizationId: actor.orgId, deletedAt: null };
  const order = { orderBy: { id: "asc" } } as const;
  const ofAgentsAndTools = { where: { ...inUse, ...among(actor) }, ...order };
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
  const [triggers, schedules] = [allTriggers.filter(hasTarget), allSchedules.filter(hasTarget)];
  const targets = new Set([...tools, ...agents].map(({ id }) => id));
  const sources = new Set(triggers.map(({ id }) => id));
  // Without what is left out, a callback would send more runs, or all; those of a limited key name targets.
  const callbacks = allCallbacks.filter(
    ({ targetIds, triggerIds }) =>
      (targetIds.length > 0 || targetIdsOf(actor) === null) &&
      targetIds.every((id) => targets.has(id)) &&
      triggerIds.every((id) => sources.has(id)),
  );
  const declared = { tools: await declareTools(db, tools), agents: await declareAgents(db, agents) };
  return { tools, agents, triggers, schedules, callbacks, declared };
}

// One after the other: other work of the process has its turn between two definitions.
async function declareTools(db: Db["db"], tools: readonly Tool[]) {
  const declared: object[] = [];
  for (const tool of tools) {
    const where = { toolId_number: { toolId: tool.id, number: tool.version } };
    declared.push(declareTool({ ...tool, ...(await db.toolVersion.findUniqueOrThrow({ where })) }));
  }
  return declared;
}

async function declareAgents(db: Db["db"], agents: readonly Agent[]) {
  const declared: object[] = [];
  for (const agent of agents) {
    const where = { agentId_number: { agentId: agent.id, number: agent.version } };
    declared.push(declareAgent(agent, await db.agentVersion.findUniqueOrThrow({ where })));
  }
  return declared;
}

const slugsIn = (rows: readonly { id: string; slug: string }[]) => {
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  return (ids: readonly string[]) => ids.flatMap((id) => slugs.get(id) ?? []);
};

function declareDefinitions({ declared, tools, agents, triggers, schedules, callbacks }: StoredDefinitions) {
  const [agentSlugs, toolSlugs, triggerSlugs] = [slugsIn(agents), slugsIn(tools), slugsIn(triggers)];
  return {
    ...declared,
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
  { db, clock }: Pick<CatalogServices, "db" | "clock">,
  { orgId }: { orgId: OrgId },
  { agents, tools }: StoredDefinitions,
) {
  // A new organization rejects expired keys.
  const unexpired = [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }];
  const stored = await db.organization.findUniqueOrThrow({
    where: { id: orgId },
    include: {
      plan: true,
      members: { orderBy: { id: "asc" }, include: { user: { select: { email: true, name: true } } } },
      apiKeys: { where: { revokedAt: null, OR: unexpired }, orderBy: { id: "asc" } },
      secrets: { orderBy: { name: "asc" }, select: { name: true, allowedHosts: true } },
      creditEntries: { where: { sequence: 1, kind: "grant", ...FIRST_GRANT } },
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
