import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { decimalText } from "@/server/base/amount";
import { Prisma } from "@/server/base/db/generated/client";
import { defineQuery, type Queryable, select } from "@/server/base/db/statement";
import type { RunKind } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import { policyOf, readAgentSettings } from "@/server/work/agent/definition";
import { toolNameForModel } from "@/server/work/agent/prompts";
import { workflowDefinition } from "@/server/work/workflow/definition";
import type { Target } from "./target";

const READ_AGENT = defineQuery(
  "find-agent",
  z.object({
    id: z.string(),
    name: z.string(),
    active: z.boolean(),
    version: z.number(),
    model: z.string(),
    systemPrompt: z.string(),
    maxSteps: z.number(),
    functions: z.array(z.string()),
    settings: z.string(),
    maxCredits: decimalText.nullable(),
    deadlineSeconds: z.number(),
    tools: z.array(
      z.object({
        id: z.string(),
        slug: z.string(),
        name: z.string(),
        description: z.string(),
        version: z.number(),
        definition: z.string(),
        deadlineSeconds: z.number(),
        maxCredits: z.string().nullable(),
      }),
    ),
  }),
  `SELECT a.id, a.name, a.status = 'active' AS active, a.version, v.model, v.system_prompt AS "systemPrompt",
          v.max_steps AS "maxSteps", v.functions, v.settings, v.max_credits AS "maxCredits",
          v.deadline_seconds AS "deadlineSeconds",
          (SELECT coalesce(json_agg(json_build_object(
                    'id', t.id, 'slug', t.slug, 'name', t.name, 'description', t.description,
                    'version', t.version, 'definition', tv.definition, 'deadlineSeconds', tv.deadline_seconds,
                    'maxCredits', tv.max_credits::text)
                  ORDER BY attached.position), '[]')
           FROM unnest(v.tool_ids) WITH ORDINALITY AS attached (id, position)
           JOIN tools t ON t.id = attached.id AND t.organization_id = a.organization_id AND t.deleted_at IS NULL
           JOIN tool_versions tv ON tv.tool_id = t.id AND tv.number = t.version) AS tools
   FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.number = a.version
   WHERE a.organization_id = $1 AND a.id = $2 AND a.deleted_at IS NULL`,
);

const READ_TOOL = defineQuery(
  "find-tool",
  z.object({
    id: z.string(),
    name: z.string(),
    version: z.number(),
    definition: z.string(),
    maxCredits: decimalText.nullable(),
    deadlineSeconds: z.number(),
  }),
  `SELECT t.id, t.name, t.version, v.definition, v.max_credits AS "maxCredits", v.deadline_seconds AS "deadlineSeconds"
   FROM tools t JOIN tool_versions v ON v.tool_id = t.id AND v.number = t.version
   WHERE t.organization_id = $1 AND t.id = $2 AND t.deleted_at IS NULL`,
);

/** An agent or tool of the organization with its current version; null if there is none. Cached until it changes. */
export async function findTarget<Kind extends Target["kind"]>(
  { cached, pool }: Pick<Services, "cached" | "pool">,
  orgId: OrgId,
  { kind, id }: { kind: Kind; id: string },
): Promise<Extract<Target, { kind: Kind }> | null> {
  const target = await cached.targets.get(`${kind} ${orgId} ${id}`, async () => {
    const value = await (kind === "tool" ? readTool : readAgent)(pool, orgId, id);
    return value && { orgId, value };
  });
  return target && isKind(target, kind) ? target : null;
}

function isKind<Kind extends Target["kind"]>(
  target: Target,
  kind: Kind,
): target is Extract<Target, { kind: Kind }> {
  return target.kind === kind;
}

async function readTool(client: Queryable, orgId: OrgId, id: string): Promise<Target | null> {
  const [row] = await READ_TOOL(client, [orgId, id]);
  if (row === undefined) return null;
  const { definition: text, ...tool } = row;
  const definition = workflowDefinition.parse(JSON.parse(text));
  return { kind: "tool", ...tool, configuration: { kind: "tool", name: tool.name, definition } };
}

async function readAgent(client: Queryable, orgId: OrgId, id: string): Promise<Target | null> {
  const [row] = await READ_AGENT(client, [orgId, id]);
  if (row === undefined) return null;
  const { model, systemPrompt, maxSteps, settings, functions, tools, ...agent } = row;
  const { outputSchema, policies } = readAgentSettings(settings);
  const callables = [
    ...functions.map((name) => ({ kind: "function" as const, name, policy: policyOf(policies, name) })),
    ...tools.map((tool) => ({
      kind: "tool" as const,
      name: toolNameForModel(tool.slug),
      toolId: tool.id,
      version: tool.version,
      title: tool.name,
      description: tool.description,
      definition: workflowDefinition.parse(JSON.parse(tool.definition)),
      deadlineSeconds: tool.deadlineSeconds,
      maxCredits: tool.maxCredits,
      policy: policyOf(policies, tool.slug),
    })),
  ];
  const { name } = agent;
  const configuration = {
    kind: "agent" as const,
    name,
    model,
    systemPrompt,
    maxSteps,
    outputSchema,
    callables,
  };
  return { kind: "agent", ...agent, configuration };
}

const knownTarget = z.object({ slug: z.string(), total: z.number() });

/** How many names a message lists. */
const MAX_NAMES = 20;

/**
 * Names the organization's agents or tools for a message about an unknown one: `Known tools: adder, weather and 3 more`.
 * `declared`: slugs, each once, of those that exist when the caller's change is saved.
 */
export async function describeKnownTargets(
  client: Queryable,
  orgId: OrgId,
  { kind, declared = [] }: { kind: RunKind; declared?: readonly string[] },
): Promise<string> {
  const others = [...declared];
  const table = Prisma.raw(kind === "agent" ? "agents" : "tools");
  const rows = await select(
    client,
    knownTarget,
    Prisma.sql`
    SELECT slug, count(*) OVER ()::int AS total FROM ${table}
    WHERE organization_id = ${orgId}::uuid AND deleted_at IS NULL AND slug <> ALL(${others}::text[])
    ORDER BY slug LIMIT ${MAX_NAMES}`,
  );
  const names = [...rows.map(({ slug }) => slug), ...others].sort().slice(0, MAX_NAMES);
  const omitted = (rows[0]?.total ?? 0) + others.length - names.length;
  return `Known ${kind}s: ${names.join(", ") || "none"}${omitted > 0 ? ` and ${omitted} more` : ""}`;
}
