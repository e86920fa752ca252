import { isMap } from "yaml";
import type { z } from "zod";
import type { OperatorActor } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type {
  Agent,
  AgentVersion,
  CallbackEndpoint,
  Schedule,
  Tool,
  ToolVersion,
  Trigger,
} from "@/server/base/db/generated/client";
import { readJson, writeJson } from "@/server/base/json/json";
import { parseModelProviders } from "@/server/runs/find-model-providers";
import { readAgentSettings } from "@/server/work/agent/settings";
import { workflowDefinition, workflowStep } from "@/server/work/workflow/definition";
import { callbackDefinition } from "../callbacks/callback-definition";
import type { CatalogServices } from "../change";
import { NEWEST } from "../definition-rows";
import {
  agentDefinition,
  apiKeyDefinition,
  memberDefinition,
  organizationDefinition,
  scheduleDefinition,
  toolDefinition,
  triggerDefinition,
} from "../definitions";
import { describePlan } from "../organization/organizations";
import { storedSignature } from "../webhooks/senders/signature-definition";
import { createYaml } from "./write-yaml";

const orUnset = <Item>(list: Item[]) => (list.length > 0 ? list : undefined);

/**
 * Exports an organization as a definition file, without ids, passwords, keys, tokens and values of secrets.
 * Applying it to the same organization changes nothing.
 */
export async function exportOrganization(
  services: Pick<CatalogServices, "db">,
  actor: OperatorActor,
): Promise<string> {
  const stored = await readOrganization(services, actor);
  const document = createYaml({ organizations: [declareOrganization(stored)] });
  for (const [index, { secrets }] of stored.triggers.entries()) {
    const node = document.getIn(["organizations", 0, "triggers", index]);
    if (secrets.length > 0 && isMap(node)) node.comment = " a secret is set; it is not exported";
  }
  return document.toString({ lineWidth: 0 });
}

type StoredOrganization = Awaited<ReturnType<typeof readOrganization>>;

/** Leaves out triggers, schedules, keys and callbacks whose targets were deleted. */
async function readOrganization({ db }: Pick<CatalogServices, "db">, actor: OperatorActor) {
  const inUse = { where: { deletedAt: null }, orderBy: { id: "asc" } } as const;
  const found = await db.organization.findUniqueOrThrow({
    where: { id: actor.orgId },
    include: {
      plan: true,
      members: { orderBy: { id: "asc" }, include: { user: { select: { email: true, name: true } } } },
      apiKeys: { where: { revokedAt: null }, orderBy: { id: "asc" } },
      secrets: { orderBy: { name: "asc" }, select: { name: true, allowedHosts: true } },
      tools: { ...inUse, include: { versions: NEWEST } },
      agents: { ...inUse, include: { versions: NEWEST } },
      triggers: { ...inUse, include: { agent: true, tool: true, secrets: true } },
      callbacks: { where: { deletedAt: null, slug: { not: null } }, orderBy: { id: "asc" } },
      schedules: { ...inUse, include: { agent: true, tool: true } },
      creditEntries: { where: { sequence: 1, kind: "grant" } },
    },
  });
  const hasTarget = ({ agent, tool }: (typeof found.schedules)[number] | (typeof found.triggers)[number]) =>
    agent?.deletedAt === null || tool?.deletedAt === null;
  const triggers = found.triggers.filter(hasTarget);
  const schedules = found.schedules.filter(hasTarget);
  // A key whose targets were deleted would be unlimited.
  const targets = new Set([...found.tools, ...found.agents].map(({ id }) => id));
  const apiKeys = found.apiKeys.filter(({ targetIds }) => targetIds.every((id) => targets.has(id)));
  // So would a callback.
  const sources = new Set(found.triggers.map(({ id }) => id));
  const callbacks = found.callbacks.filter(
    ({ targetIds, triggerIds }) =>
      targetIds.every((id) => targets.has(id)) && triggerIds.every((id) => sources.has(id)),
  );
  return { ...found, triggers, schedules, apiKeys, callbacks };
}

function declareOrganization(stored: StoredOrganization) {
  const { slug, name, plan, members, apiKeys, secrets, tools, agents, triggers, schedules, callbacks } =
    stored;
  const toolSlugs = new Map(tools.map((tool) => [tool.id, tool.slug]));
  const agentSlugs = new Map(agents.map((agent) => [agent.id, agent.slug]));
  const triggerSlugs = new Map(triggers.map((trigger) => [trigger.id, trigger.slug]));
  const slugsOf = (ids: readonly string[], slugs: Map<string, string>) =>
    ids.flatMap((id) => slugs.get(id) ?? []);
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
        agents: slugsOf(key.targetIds, agentSlugs),
        tools: slugsOf(key.targetIds, toolSlugs),
      }),
    ),
    secrets: orUnset(secrets.map((secret) => ({ name: secret.name, hosts: secret.allowedHosts }))),
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
          agents: slugsOf(callback.targetIds, agentSlugs),
          tools: slugsOf(callback.targetIds, toolSlugs),
          triggers: slugsOf(callback.triggerIds, triggerSlugs),
        }),
      ),
    ),
    schedules: orUnset(schedules.map(declareSchedule)),
  };
}

/** An agent with one of its versions. */
export function declareAgent(
  agent: Pick<Agent, "slug" | "name" | "status">,
  version: AgentVersion,
): Record<string, unknown> {
  return declare(agentDefinition, { ...agent, ...version, ...readAgentSettings(version) });
}

/** A trigger, without its secrets. */
export function declareTrigger(trigger: Trigger & Targeted): Record<string, unknown> {
  return declare(triggerDefinition, {
    ...trigger,
    name: trigger.name === trigger.slug ? null : trigger.name,
    agent: trigger.agent?.slug,
    tool: trigger.tool?.slug,
    status: trigger.disabledAt === null ? "active" : "inactive",
    signature: storedSignature.parse(trigger.signature),
    rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
  });
}

type Targeted = { agent: { slug: string } | null; tool: { slug: string } | null };

export function declareSchedule({ input, ...schedule }: Schedule & Targeted): Record<string, unknown> {
  return declare(scheduleDefinition, {
    ...schedule,
    name: schedule.name === schedule.slug ? null : schedule.name,
    agent: schedule.agent?.slug,
    tool: schedule.tool?.slug,
    ...(schedule.agent ? { message: input } : { input: input === "{}" ? null : readJson(input) }),
    paused: schedule.pausedAt !== null,
  });
}

/** A callback with the slugs of its filter, without its secrets. */
export function declareCallback(
  callback: CallbackEndpoint,
  filter: Record<"agents" | "tools" | "triggers", string[]>,
): Record<string, unknown> {
  return declare(callbackDefinition, {
    ...callback,
    ...filter,
    name: callback.name === callback.slug ? null : callback.name,
    status: callback.disabledAt === null ? "active" : "inactive",
    metadata: readJson(callback.metadata),
  });
}

/** Leaves out fields with the default value. Times are written as ISO 8601, decimals as numbers. */
function declare(schema: z.ZodObject, fields: object): Record<string, unknown> {
  const values = new Map(Object.entries(fields));
  const written = Object.entries(schema.shape).flatMap(([field, type]) => {
    const value = values.get(field) ?? undefined;
    const preset = "safeParse" in type ? type.safeParse(undefined).data : undefined;
    if (value === undefined || writeJson(value) === writeJson(preset)) return [];
    if (value instanceof Date) return [[field, value.toISOString()]];
    return [[field, Decimal.isDecimal(value) ? value.toNumber() : value]];
  });
  return Object.fromEntries(written);
}

type ToolContent = Pick<Tool, "slug" | "name" | "description"> &
  Pick<ToolVersion, "definition" | "maxCredits" | "deadlineSeconds">;

export function declareTool({ definition, ...tool }: ToolContent): Record<string, unknown> {
  const { steps, ...workflow } = workflowDefinition.parse(readJson(definition));
  const declared = steps.map((step) => declare(workflowStep, step));
  return declare(toolDefinition, { ...tool, ...workflow, steps: declared });
}
