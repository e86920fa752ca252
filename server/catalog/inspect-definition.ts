import type { MemberActor } from "@/server/base/actor";
import { toPlainData } from "@/server/base/db/plain-data";
import { queryThrough } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { type JsonObject, writeJson } from "@/server/base/json/json";
import type { Services } from "@/server/catalog/services";
import type { RunKind } from "@/server/contract/enums";
import { settingsFields } from "@/server/work/agent/field-changes";
import { policyOf, readAgentSettings } from "@/server/work/agent/settings";
import { findFunction } from "@/server/work/functions/core/registry";
import { modelSettings } from "@/server/work/models/settings";
import { findAgentsWithTool } from "./agent-rows";
import { inUse, NEWEST } from "./definition-rows";
import { readStoredTool } from "./stored-tool";
import { findCallingTools, toolLine } from "./tool-rows";

type Caller = { kind: RunKind; id: string; name: string };
export type AgentDetail = Awaited<ReturnType<typeof inspectAgent>>;
export type ToolDetail = Awaited<ReturnType<typeof inspectTool>>;

/**
 * An agent with its current version. A function that no longer exists has an empty description. `outputSchema` is
 * JSON; null: the answer is text. Throws `not_found`.
 */
export async function inspectAgent(
  services: Pick<Services, "db">,
  actor: MemberActor,
  { agentId }: { agentId: string },
) {
  const { db } = services;
  const agent = await db.agent.findFirst({
    where: { id: agentId, ...inUse(actor) },
    select: { ...HEAD, status: true, versions: NEWEST },
  });
  const version = agent?.versions[0];
  if (!agent || !version) throw new AppError("not_found", "Agent not found.");
  const { versions, triggers, ...head } = agent;
  const { maxCredits, deadlineSeconds } = version;
  const settings = readAgentSettings(version);
  const {
    model,
    fallbackModels = [],
    systemPrompt,
    functions,
    tools: slugs,
    policies,
    outputSchema,
    ...others
  } = settings;
  const tools = await db.tool.findMany({
    where: { organizationId: actor.orgId, slug: { in: slugs } },
    select: { id: true, slug: true, name: true, description: true, deletedAt: true },
  });
  return {
    ...toPlainData({ ...head, maxCredits, deadlineSeconds }),
    triggers: triggers.map(nameTrigger),
    callers: await findToolCallers(services, actor, { kind: "agent", ...agent }),
    model,
    fallbackModels,
    systemPrompt,
    modelSettings: settingsFields(modelSettings.parse(settings)),
    limits: settingsFields(
      Object.fromEntries(
        Object.entries(others).filter(([name]) => !Object.hasOwn(modelSettings.shape, name)),
      ),
    ),
    functions: functions.map((name) => ({
      name,
      description: findFunction(name)?.description ?? "",
      policy: policyOf(policies, name) ?? null,
    })),
    tools: slugs.map((slug) => {
      const tool = tools.find((each) => each.slug === slug);
      const { id, name, description } = tool ?? { id: slug, name: slug, description: "" };
      const gone = tool?.deletedAt !== null;
      return { id, name, description, gone, policy: policyOf(policies, slug) ?? null };
    }),
    outputSchema: jsonOrNull(outputSchema),
  };
}

/**
 * A tool with its current version; schemas and inputs as JSON. Without `output` the last step's output is the
 * tool's. Without `outputSchema` it is inferred. Throws `not_found`.
 */
export async function inspectTool(
  services: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { toolId }: { toolId: string },
) {
  const { db } = services;
  const tool = await db.tool.findFirst({
    where: { id: toolId, ...inUse(actor) },
    select: { ...HEAD, description: true, versions: NEWEST },
  });
  const version = tool?.versions[0];
  if (!tool || !version) throw new AppError("not_found", "Tool not found.");
  const { versions, triggers, ...head } = tool;
  const { definition, maxCredits, deadlineSeconds } = version;
  const agents = await findAgentsWithTool(services.pool, actor.orgId, tool.slug);
  const attached = agents.map(({ id, name }): Caller => ({ kind: "agent", id, name }));
  const { parameters = {}, steps, output, outputSchema } = readStoredTool(definition);
  return {
    ...toPlainData({ ...head, maxCredits, deadlineSeconds }),
    triggers: triggers.map(nameTrigger),
    callers: [...attached, ...(await findToolCallers(services, actor, { kind: "tool", ...tool }))],
    parameters: writeJson(parameters),
    steps: steps.map(({ parallel, ...step }) => ({
      ...writeInput(step),
      ...(parallel && { parallel: parallel.map(writeInput) }),
    })),
    output: jsonOrNull(output),
    outputSchema: jsonOrNull(outputSchema),
  };
}

// JSON keeps the digits of all numbers.
const writeInput = <Step extends { with: JsonObject }>(step: Step) => ({
  ...step,
  with: writeJson(step.with),
});

const jsonOrNull = (value: unknown) => (value === undefined ? null : writeJson(value));

async function findToolCallers(
  { db }: Pick<Services, "db">,
  actor: MemberActor,
  called: { kind: RunKind; id: string; slug: string },
): Promise<Caller[]> {
  const found = await findCallingTools(queryThrough(db), actor.orgId, called);
  return found.map(toolLine);
}

const HEAD = {
  id: true,
  slug: true,
  name: true,
  version: true,
  createdAt: true,
  updatedAt: true,
  triggers: {
    where: { deletedAt: null },
    orderBy: { name: "asc" },
    select: { id: true, name: true, disabledAt: true },
  },
} as const;

function nameTrigger({ id, name, disabledAt }: { id: string; name: string; disabledAt: Date | null }) {
  return { id, name, enabled: disabledAt === null };
}
