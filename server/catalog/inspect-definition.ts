import { z } from "zod";
import { type AttachmentPolicy, policyOf, readSettings } from "@/server/agent/definition";
import type { MemberActor } from "@/server/auth/actor";
import { AppError } from "@/server/errors";
import { findFunction } from "@/server/functions/registry";
import type { Services } from "@/server/services";
import { workflowStep } from "@/server/workflow/definition";
import { findTools } from "./find-tools";

/** An agent or tool that calls another one. */
export type Caller = { kind: "agent" | "tool"; id: string; name: string };

export type TriggerName = { id: string; name: string; enabled: boolean };

type Common = {
  id: string;
  slug: string;
  name: string;
  version: number;
  maxCredits: string | null;
  deadlineSeconds: number;
  createdAt: string;
  updatedAt: string;
  triggers: TriggerName[];
  /** The agents that it is attached to, and the tools with a step that names it. */
  callers: Caller[];
};

export type AgentDetail = Common & {
  status: "active" | "inactive";
  model: string;
  systemPrompt: string;
  maxSteps: number;
  /** With an empty description if it no longer exists. */
  functions: { name: string; description: string; policy: AttachmentPolicy | null }[];
  tools: {
    id: string;
    name: string;
    description: string;
    gone: boolean;
    policy: AttachmentPolicy | null;
  }[];
  /** JSON Schema as JSON; null: the answer is text. */
  outputSchema: string | null;
};

export type ToolDetail = Common & {
  description: string;
  /** JSON Schema, as JSON. */
  parameters: string;
  steps: z.infer<typeof step>[];
  /** JSON whose strings may contain `{{ }}`; null: the last step's output. */
  output: string | null;
  /** JSON Schema as JSON; null: inferred from the output. */
  outputSchema: string | null;
};

/** Reads a stored step. Unknown keys of later versions of Stepwell must not make the page fail. */
const step = z.object(workflowStep.shape);
const stored = z.object({
  parameters: z.unknown().optional(),
  steps: z.array(step).default([]),
  output: z.unknown().optional(),
  outputSchema: z.unknown().optional(),
});

/** An agent with its current version. Throws `not_found`. */
export async function inspectAgent(
  services: Services,
  actor: MemberActor,
  agentId: string,
): Promise<AgentDetail> {
  const { db } = services;
  const agent = await db.agent.findFirst({
    where: { id: agentId, organizationId: actor.orgId, deletedAt: null },
    include: { versions: { orderBy: { number: "desc" }, take: 1 }, triggers: TRIGGERS },
  });
  const version = agent?.versions[0];
  if (!agent || !version) throw new AppError("not_found", "Agent not found.");
  const tools = await db.tool.findMany({
    where: { organizationId: actor.orgId, id: { in: version.toolIds } },
    select: { id: true, slug: true, name: true, description: true, deletedAt: true },
  });
  const { outputSchema, policies } = readSettings(version.settings);
  const { model, systemPrompt, maxSteps, functions, toolIds } = version;
  return {
    ...common(agent, version),
    callers: await findCallingTools(services, actor, { kind: "agent", ...agent }),
    status: agent.status,
    model,
    systemPrompt,
    maxSteps,
    functions: functions.map((name) => ({
      name,
      description: findFunction(name)?.description ?? "",
      policy: policyOf(policies, name) ?? null,
    })),
    tools: toolIds.map((id) => {
      const tool = tools.find((each) => each.id === id);
      const { slug, name, description } = tool ?? { slug: "", name: "a deleted tool", description: "" };
      return {
        id,
        name,
        description,
        gone: !tool || tool.deletedAt !== null,
        policy: policyOf(policies, slug) ?? null,
      };
    }),
    outputSchema: outputSchema === undefined ? null : JSON.stringify(outputSchema),
  };
}

/** A tool with its current version. Throws `not_found`. */
export async function inspectTool(
  services: Services,
  actor: MemberActor,
  toolId: string,
): Promise<ToolDetail> {
  const { db } = services;
  const tool = await db.tool.findFirst({
    where: { id: toolId, organizationId: actor.orgId, deletedAt: null },
    include: { versions: { orderBy: { number: "desc" }, take: 1 }, triggers: TRIGGERS },
  });
  const version = tool?.versions[0];
  if (!tool || !version) throw new AppError("not_found", "Tool not found.");
  const agents = await db.agent.findMany({
    where: { organizationId: actor.orgId, deletedAt: null },
    select: {
      id: true,
      name: true,
      versions: { orderBy: { number: "desc" }, take: 1, select: { toolIds: true } },
    },
    orderBy: { name: "asc" },
  });
  const attached = agents
    .filter((agent) => agent.versions[0]?.toolIds.includes(tool.id))
    .map(({ id, name }) => ({ kind: "agent" as const, id, name }));
  const definition = stored.parse(JSON.parse(version.definition));
  return {
    ...common(tool, version),
    callers: [...attached, ...(await findCallingTools(services, actor, { kind: "tool", ...tool }))],
    description: tool.description,
    parameters: JSON.stringify(definition.parameters ?? {}),
    steps: definition.steps,
    output: definition.output === undefined ? null : JSON.stringify(definition.output),
    outputSchema: definition.outputSchema === undefined ? null : JSON.stringify(definition.outputSchema),
  };
}

/** The other tools whose current version has a step that runs the agent or tool by its slug. */
async function findCallingTools(
  services: Services,
  actor: MemberActor,
  { kind, id, slug }: { kind: Caller["kind"]; id: string; slug: string },
): Promise<Caller[]> {
  const uses = `run_${kind}`;
  const calls = (each: z.infer<typeof step>): boolean =>
    [each, ...(each.parallel ?? [])].some((call) => call.uses === uses && call.with[kind] === slug);
  const found = await findTools(services, actor.orgId, {
    text: `"${uses}"`,
    fits: (definition) => stored.parse(JSON.parse(definition)).steps.some(calls),
  });
  return found.filter((tool) => tool.id !== id);
}

const TRIGGERS = {
  where: { deletedAt: null },
  orderBy: { name: "asc" },
  select: { id: true, name: true, disabledAt: true },
} as const;

function common(
  found: {
    id: string;
    slug: string;
    name: string;
    version: number;
    createdAt: Date;
    updatedAt: Date;
    triggers: { id: string; name: string; disabledAt: Date | null }[];
  },
  version: { maxCredits: { toFixed(places: number): string } | null; deadlineSeconds: number },
): Omit<Common, "callers"> {
  const { id, slug, name, createdAt, updatedAt, triggers } = found;
  return {
    id,
    slug,
    name,
    version: found.version,
    maxCredits: version.maxCredits?.toFixed(4) ?? null,
    deadlineSeconds: version.deadlineSeconds,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    triggers: triggers.map((trigger) => ({
      id: trigger.id,
      name: trigger.name,
      enabled: trigger.disabledAt === null,
    })),
  };
}
