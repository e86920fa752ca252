import { AppError, type Issue } from "@/server/base/errors";
import { rejection } from "@/server/base/issues";
import { type JsonObject, readJson } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import type { RunKind } from "@/server/contract/enums";
import { readAgentSettings } from "@/server/work/agent/settings";
import { workflowDefinition } from "@/server/work/workflow/definition";
import type { CallbackDefinition } from "./callbacks/callback-definition";
import type { Author, Change } from "./change";
import { NEWEST } from "./definition-rows";
import type { AgentDefinition, ScheduleDefinition, ToolDefinition, TriggerDefinition } from "./definitions";
import { among, mayUse, targetIdsOf } from "./key-targets";

export type Declared =
  | { kind: "agent"; definition: AgentDefinition }
  | { kind: "tool"; definition: ToolDefinition }
  | { kind: "trigger"; definition: TriggerDefinition }
  | { kind: "schedule"; definition: ScheduleDefinition }
  | { kind: "callback"; definition: CallbackDefinition };
export type DeclaredKind = Declared["kind"];

/** An agent or tool that a run may call. `slug` null: any, chosen at runtime. */
type Use = { kind: RunKind; slug: string | null; path: string };

/**
 * Checks what a limited key saves. Throws `forbidden` if it is not its own, and `invalid_request` if it uses agents
 * and tools that the key may not use, except those that the stored definition uses already.
 */
export async function requireOwn(change: Change<Author>, declared: Declared): Promise<void> {
  const { tx, actor } = change;
  const { kind, definition } = declared;
  if (targetIdsOf(actor) === null) return;
  const query = {
    where: { organizationId: actor.orgId, ...among(actor) },
    select: { slug: true },
  } as const;
  // Archived ones too: a callback keeps them, and the save says that others are archived.
  const own = {
    agent: new Set((await tx.agent.findMany(query)).map(({ slug }) => slug)),
    tool: new Set((await tx.tool.findMany(query)).map(({ slug }) => slug)),
  };
  if (!(await isOwn(change, kind, definition.slug))) {
    throw new AppError(
      "forbidden",
      `The API key ${actor.name} is limited to some agents and tools: it may not save the ${kind} "${definition.slug}".`,
    );
  }
  const before = (await storedUses(change, declared)).map(keyOf);
  const issues = usesOf(declared).flatMap((use): Issue[] => {
    if (use.slug !== null && own[use.kind].has(use.slug)) return [];
    if (before.includes(keyOf(use))) return [];
    const what = use.slug === null ? `any ${use.kind}` : `the ${use.kind} "${use.slug}"`;
    return [{ path: use.path, message: `names ${what}, which the API key may not use` }];
  });
  if (kind === "callback") issues.push(...(await findCallbackIssues(change, definition)));
  if (issues.length > 0) throw rejection(issues);
}

// Of an agent or tool, an existing one; of others, also a new one.
async function isOwn({ tx, actor }: Change<Author>, kind: DeclaredKind, slug: string): Promise<boolean> {
  const where = { organizationId: actor.orgId, slug };
  if (kind === "agent") return (await tx.agent.count({ where: { ...where, ...among(actor) } })) > 0;
  if (kind === "tool") return (await tx.tool.count({ where: { ...where, ...among(actor) } })) > 0;
  if (kind === "trigger" || kind === "schedule") {
    const found = await (kind === "trigger"
      ? tx.trigger.findMany({ where })
      : tx.schedule.findMany({ where }));
    return found.every(({ agentId, toolId }) => mayUse(actor, agentId ?? toolId ?? ""));
  }
  const callback = await tx.callbackEndpoint.findFirst({ where: { ...where, deletedAt: null } });
  if (callback === null) return true;
  return callback.targetIds.length > 0 && callback.targetIds.every((id) => mayUse(actor, id));
}

const keyOf = ({ kind, slug }: Use) => `${kind} ${slug}`;

function usesOf({ kind, definition }: Declared): Use[] {
  if (kind === "agent") return usesOfAgent(definition);
  if (kind === "tool") return usesOfTool(definition);
  if (kind === "callback") {
    return [
      ...definition.agents.map((slug, n): Use => ({ kind: "agent", slug, path: `/agents/${n}` })),
      ...definition.tools.map((slug, n): Use => ({ kind: "tool", slug, path: `/tools/${n}` })),
    ];
  }
  const { agent, tool } = definition;
  return [
    ...(agent === undefined ? [] : [{ kind: "agent" as const, slug: agent, path: "/agent" }]),
    ...(tool === undefined ? [] : [{ kind: "tool" as const, slug: tool, path: "/tool" }]),
  ];
}

const CALLS = { run_agent: "agent", run_tool: "tool" } as const;
const isCall = (name: string | undefined): name is keyof typeof CALLS =>
  name !== undefined && Object.hasOwn(CALLS, name);

function usesOfAgent({ tools, functions }: Pick<AgentDefinition, "tools" | "functions">): Use[] {
  const called = functions.flatMap((name, n): Use[] =>
    isCall(name) ? [{ kind: CALLS[name], slug: null, path: `/functions/${n}` }] : [],
  );
  return [...tools.map((slug, n): Use => ({ kind: "tool", slug, path: `/tools/${n}` })), ...called];
}

function usesOfTool({ steps }: Pick<ToolDefinition, "steps">): Use[] {
  return steps.flatMap(({ parallel, ...step }, n) => {
    const at = ["steps", n];
    const own = useOfStep(step, at);
    return [...own, ...(parallel ?? []).flatMap((each, m) => useOfStep(each, [...at, "parallel", m]))];
  });
}

function useOfStep(step: { uses?: string | undefined; with: JsonObject }, at: (string | number)[]): Use[] {
  const { uses, with: input } = step;
  if (!isCall(uses)) return [];
  const kind = CALLS[uses];
  const slug = input[kind];
  const isFixed = typeof slug === "string" && !slug.includes("{{");
  return [{ kind, slug: isFixed ? slug : null, path: jsonPointer([...at, "with", kind]) }];
}

async function storedUses(
  { tx, actor }: Change<Author>,
  { kind, definition: { slug } }: Declared,
): Promise<Use[]> {
  const query = { where: { organizationId: actor.orgId, slug }, include: { versions: NEWEST } } as const;
  if (kind === "agent") {
    const [version] = (await tx.agent.findFirst(query))?.versions ?? [];
    return version === undefined ? [] : usesOfAgent(readAgentSettings(version));
  }
  if (kind === "tool") {
    const [version] = (await tx.tool.findFirst(query))?.versions ?? [];
    return version === undefined ? [] : usesOfTool(workflowDefinition.parse(readJson(version.definition)));
  }
  return [];
}

// A callback for runs of all agents and tools would send what the key may not read.
async function findCallbackIssues(
  { tx, actor }: Change<Author>,
  { agents, tools, triggers, events }: CallbackDefinition,
): Promise<Issue[]> {
  const issues =
    agents.length + tools.length > 0
      ? []
      : [{ path: "", message: "must name agents or tools, because the API key is limited to some" }];
  if (events.includes("credits.low")) {
    const message = "names credits.low, but a key that is limited to agents and tools cannot read credits";
    issues.push({ path: "/events", message });
  }
  const named = await tx.trigger.findMany({
    where: { organizationId: actor.orgId, slug: { in: triggers } },
    select: { slug: true, agentId: true, toolId: true },
  });
  const foreign = named.flatMap(({ slug, agentId, toolId }) => {
    if (mayUse(actor, agentId ?? toolId ?? "")) return [];
    const message = `"${slug}" is a trigger of an agent or tool that the API key may not use`;
    return [{ path: `/triggers/${triggers.indexOf(slug)}`, message }];
  });
  return [...issues, ...foreign];
}
