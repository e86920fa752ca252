import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { decimalText } from "@/server/base/amount";
import { Prisma } from "@/server/base/db/generated/client";
import { defineQuery, type Queryable, select } from "@/server/base/db/statement";
import { readJson } from "@/server/base/json/json";
import type { RunKind } from "@/server/contract/enums";
import type { Services } from "@/server/runs/services";
import { toolNameForModel } from "@/server/work/agent/prompts";
import { type AgentSettings, policyOf, readAgentSettings } from "@/server/work/agent/settings";
import { workflowDefinition } from "@/server/work/workflow/definition";
import type { Target } from "./target";

const READ_AGENT = defineQuery(
  "find-agent",
  z.object({
    id: z.string(),
    name: z.string(),
    active: z.boolean(),
    version: z.number(),
    definition: z.string(),
    maxCredits: decimalText.nullable(),
    deadlineSeconds: z.number(),
  }),
  `SELECT a.id, a.name, a.status = 'active' AS active, a.version, v.definition, v.max_credits AS "maxCredits",
          v.deadline_seconds AS "deadlineSeconds"
   FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.number = a.version
   WHERE a.organization_id = $1 AND a.id = $2 AND a.deleted_at IS NULL`,
);

const READ_ATTACHED = defineQuery(
  "find-attached-tools",
  z.object({
    toolId: z.string(),
    slug: z.string(),
    title: z.string(),
    description: z.string(),
    version: z.number(),
    definition: z.string(),
    deadlineSeconds: z.number(),
    maxCredits: z.string().nullable(),
  }),
  `SELECT t.id AS "toolId", t.slug, t.name AS title, t.description, t.version, v.definition,
          v.deadline_seconds AS "deadlineSeconds", v.max_credits::text AS "maxCredits"
   FROM unnest($2::text[]) WITH ORDINALITY AS attached (slug, position)
   JOIN tools t ON t.organization_id = $1 AND t.slug = attached.slug AND t.deleted_at IS NULL
   JOIN tool_versions v ON v.tool_id = t.id AND v.number = t.version
   ORDER BY attached.position`,
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
  const definition = workflowDefinition.parse(readJson(text));
  return { kind: "tool", ...tool, configuration: { kind: "tool", name: tool.name, definition } };
}

async function readAgent(client: Queryable, orgId: OrgId, id: string): Promise<Target | null> {
  const [row] = await READ_AGENT(client, [orgId, id]);
  if (row === undefined) return null;
  const { definition, ...agent } = row;
  const settings = readAgentSettings({ definition });
  const configuration = await configureAgent(client, { orgId, name: agent.name, settings });
  return { kind: "agent", ...agent, configuration };
}

type ConfiguredAgent = Extract<Target, { kind: "agent" }>["configuration"];

/** An agent as a run freezes it: its settings, with the current versions of its tools. */
export async function configureAgent(
  client: Queryable,
  { orgId, name, settings }: { orgId: OrgId; name: string; settings: AgentSettings },
): Promise<ConfiguredAgent> {
  const { functions, tools: slugs, policies, ...frozen } = settings;
  const tools = slugs.length === 0 ? [] : await READ_ATTACHED(client, [orgId, slugs]);
  const callables = [
    ...functions.map((each) => ({ kind: "function" as const, name: each, policy: policyOf(policies, each) })),
    ...tools.map(({ slug, definition, ...tool }) => ({
      kind: "tool" as const,
      ...tool,
      name: toolNameForModel(slug),
      definition: workflowDefinition.parse(readJson(definition)),
      policy: policyOf(policies, slug),
    })),
  ];
  return { kind: "agent", name, ...frozen, callables };
}

const knownTarget = z.object({ slug: z.string(), total: z.number() });

const MAX_NAMES = 20;
// One more than `nearestName` compares: it must not choose among a part of them.
const MAX_LISTED = 501;

/**
 * The slugs of the organization's agents or tools, and for a message `Known tools: adder, weather and 3 more`.
 * `declared`: distinct slugs that exist once the caller's change is saved. `among`: ids of the only ones to name, if any.
 */
export async function findKnownTargets(
  client: Queryable,
  orgId: OrgId,
  {
    kind,
    declared = [],
    among = [],
  }: { kind: RunKind; declared?: readonly string[]; among?: readonly string[] },
): Promise<{ description: string; names: string[] }> {
  const others = [...declared];
  const table = Prisma.raw(kind === "agent" ? "agents" : "tools");
  const rows = await select(
    client,
    knownTarget,
    Prisma.sql`
    SELECT slug, count(*) OVER ()::int AS total FROM ${table}
    WHERE organization_id = ${orgId}::uuid AND deleted_at IS NULL AND slug <> ALL(${others}::text[])
      AND (${among.length === 0} OR id = ANY(${[...among]}::uuid[]))
    ORDER BY slug LIMIT ${MAX_LISTED}`,
  );
  const names = [...rows.map(({ slug }) => slug), ...others].sort();
  const shown = names.slice(0, MAX_NAMES);
  const omitted = (rows[0]?.total ?? 0) + others.length - shown.length;
  const more = omitted > 0 ? ` and ${omitted} more` : "";
  return { description: `Known ${kind}s: ${shown.join(", ") || "none"}${more}`, names };
}
