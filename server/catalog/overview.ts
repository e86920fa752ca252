import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/auth/actor";
import { nameActors } from "@/server/auth/name-actors";
import {
  DELIVERY_OUTCOMES,
  type DeliveryOutcomeName,
  RUN_STATUSES,
  type RunStatus,
} from "@/server/contract/enums";
import { Prisma } from "@/server/db/generated/client";
import { isoDate } from "@/server/db/sql";
import { readWeek, type WeekFigures } from "@/server/runs/read/metrics/metrics";
import { openRuns, queuedRuns } from "@/server/runs/read/run-rows";
import type { Services } from "@/server/services";

/** The newest run of an agent or tool, for lists. */
export type LastRun = { id: string; status: RunStatus; createdAt: string };

type CommonLine = { id: string; slug: string; name: string; version: number; updatedAt: string };
type TargetLine = CommonLine & {
  lastRun: LastRun | null;
  /** Null: no run in the last seven days. */
  week: WeekFigures | null;
};

export type AgentLine = TargetLine & { status: "active" | "inactive"; model: string };

/** The organization's agents with their current version, by name. */
export async function listAgents(services: Services, actor: MemberActor): Promise<AgentLine[]> {
  const agents = await services.db.agent.findMany({
    where: { organizationId: actor.orgId, deletedAt: null },
    orderBy: { name: "asc" },
    include: { versions: { orderBy: { number: "desc" }, take: 1 } },
  });
  const withRuns = await readRunsOf(services, actor, { kind: "agent", listed: agents });
  return agents.map((agent) => ({
    ...withRuns(agent),
    status: agent.status,
    model: agent.versions[0]?.model ?? "",
  }));
}

export type ToolLine = TargetLine & { description: string };

/** The organization's tools with their current version, by name. */
export async function listTools(services: Services, actor: MemberActor): Promise<ToolLine[]> {
  const tools = await services.db.tool.findMany({
    where: { organizationId: actor.orgId, deletedAt: null },
    orderBy: { name: "asc" },
  });
  const withRuns = await readRunsOf(services, actor, { kind: "tool", listed: tools });
  return tools.map((tool) => ({ ...withRuns(tool), description: tool.description }));
}

/** Reads the last runs and the weeks of agents or tools; returns a function that gives one's line. */
async function readRunsOf(
  services: Services,
  actor: MemberActor,
  { kind, listed }: { kind: "agent" | "tool"; listed: { id: string }[] },
) {
  const ids = listed.map(({ id }) => id);
  const [lastRuns, weeks] = await Promise.all([
    readLastRuns(services, actor.orgId, ids),
    readWeek(services, actor, kind),
  ]);
  return ({
    id,
    slug,
    name,
    version,
    updatedAt,
  }: Omit<CommonLine, "updatedAt"> & { updatedAt: Date }): TargetLine => ({
    id,
    slug,
    name,
    version,
    updatedAt: updatedAt.toISOString(),
    lastRun: lastRuns.get(id) ?? null,
    week: weeks.get(id) ?? null,
  });
}

export type TriggerLine = {
  id: string;
  slug: string;
  name: string;
  enabled: boolean;
  target: { kind: "agent" | "tool"; id: string; name: string; gone: boolean };
  lastCall: LastCall | null;
  /** Null: no run in the last seven days. */
  week: WeekFigures | null;
};

/** The newest delivery of a trigger; `status` is the HTTP status of the response. */
export type LastCall = { id: string; outcome: DeliveryOutcomeName; status: number; receivedAt: string };

export async function listTriggers(services: Services, actor: MemberActor): Promise<TriggerLine[]> {
  const target = { select: { id: true, name: true, deletedAt: true } };
  const triggers = await services.db.trigger.findMany({
    where: { organizationId: actor.orgId, deletedAt: null },
    orderBy: { name: "asc" },
    include: { agent: target, tool: target },
  });
  const ids = triggers.map(({ id }) => id);
  const [lastCalls, weeks] = await Promise.all([
    readLastCalls(services, actor.orgId, ids),
    readWeek(services, actor, "trigger"),
  ]);
  return triggers.map((trigger) => {
    const found = trigger.agent ?? trigger.tool;
    return {
      id: trigger.id,
      slug: trigger.slug,
      name: trigger.name,
      enabled: trigger.disabledAt === null,
      target: {
        kind: trigger.agentId ? "agent" : "tool",
        id: found?.id ?? "",
        name: found?.name ?? "",
        gone: !found || found.deletedAt !== null,
      },
      lastCall: lastCalls.get(trigger.id) ?? null,
      week: weeks.get(trigger.id) ?? null,
    };
  });
}

export type KeyLine = {
  id: string;
  name: string;
  /** The readable start of the key; only its hash is stored. */
  prefix: string;
  scopes: string[];
  /** The agents and tools that the key is limited to; empty: all. */
  targets: string[];
  createdBy: string;
  state: "active" | "expired" | "revoked";
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
};

/** The organization's API keys: usable ones first, then by name. */
export async function listKeys(services: Services, actor: MemberActor): Promise<KeyLine[]> {
  const now = services.clock.now();
  const keys = await services.db.apiKey.findMany({
    where: { organizationId: actor.orgId },
    orderBy: [{ revokedAt: { sort: "desc", nulls: "first" } }, { name: "asc" }],
    omit: { hash: true },
  });
  const limitedTo = [...new Set(keys.flatMap((key) => key.targetIds))];
  const query = {
    where: { organizationId: actor.orgId, id: { in: limitedTo } },
    select: { id: true, name: true },
  };
  const [nameOf, agents, tools] = await Promise.all([
    nameActors(
      services,
      actor.orgId,
      keys.map((key) => key.createdBy),
    ),
    limitedTo.length === 0 ? [] : services.db.agent.findMany(query),
    limitedTo.length === 0 ? [] : services.db.tool.findMany(query),
  ]);
  const targets = new Map([...agents, ...tools].map(({ id, name }) => [id, name]));
  return keys.map((key) => ({
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    targets: key.targetIds.map((id) => targets.get(id) ?? "a deleted target"),
    createdBy: nameOf(key.createdBy),
    state: stateOfKey(key, now),
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  }));
}

/** Whether a key works. */
export function stateOfKey(
  { revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date | null },
  now: Date,
): KeyLine["state"] {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

const lastRunRow = z.object({
  of: z.string(),
  id: z.string(),
  status: z.enum(RUN_STATUSES),
  createdAt: isoDate,
});

/** The newest run of each id: one lookup each in the index of ended runs, and one pass over the other runs. */
async function readLastRuns(services: Services, orgId: OrgId, ids: string[]): Promise<Map<string, LastRun>> {
  if (ids.length === 0) return new Map();
  const now = services.clock.now();
  const { text, values } = Prisma.sql`
    WITH unindexed AS MATERIALIZED (
      SELECT DISTINCT ON (r.target_id) r.target_id AS of, r.id
      FROM (SELECT * FROM ${openRuns(now)} o UNION ALL SELECT * FROM ${queuedRuns(now)} q) r
      WHERE r.organization_id = ${orgId}::uuid AND r.target_id = ANY (${ids}::uuid[]) ORDER BY r.target_id, r.id DESC
    )
    SELECT wanted.id AS of, r.id, r.status::text AS status, r.created_at AS "createdAt"
    FROM unnest(${ids}::uuid[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT id FROM (
        (SELECT run_id AS id FROM run_index WHERE organization_id = ${orgId}::uuid AND target_id = wanted.id
         ORDER BY run_id DESC LIMIT 1)
        UNION ALL
        SELECT id FROM unindexed WHERE of = wanted.id
      ) newest ORDER BY id DESC LIMIT 1
    ) newest
    JOIN runs r ON r.id = newest.id`;
  const found = await services.pool.query(text, values);
  const rows = z.array(lastRunRow).parse(found.rows);
  return new Map(rows.map(({ of, ...run }) => [of, run]));
}

const lastCallRow = z.object({
  of: z.string(),
  id: z.string(),
  outcome: z.enum(DELIVERY_OUTCOMES),
  status: z.number(),
  receivedAt: isoDate,
});

async function readLastCalls(
  services: Services,
  orgId: OrgId,
  triggerIds: string[],
): Promise<Map<string, LastCall>> {
  if (triggerIds.length === 0) return new Map();
  const found = await services.pool.query(
    `SELECT wanted.id AS of, d.id, d.outcome::text AS outcome, d.status, d.received_at AS "receivedAt"
     FROM unnest($2::uuid[]) AS wanted(id)
     CROSS JOIN LATERAL (
       SELECT id, outcome, status, received_at FROM deliveries
       WHERE organization_id = $1 AND trigger_id = wanted.id ORDER BY id DESC LIMIT 1
     ) d`,
    [orgId, triggerIds],
  );
  const rows = z.array(lastCallRow).parse(found.rows);
  return new Map(rows.map(({ of, ...call }) => [of, call]));
}

/** An id and its name, for filters. */
export type NamedTarget = { id: string; name: string };
export type FilterTargets = {
  agents: NamedTarget[];
  tools: NamedTarget[];
  triggers: NamedTarget[];
  keys: NamedTarget[];
  /** Members, by their user ids. */
  people: NamedTarget[];
};

/** What runs can be filtered by, including deleted items, whose runs still exist. */
export async function listFilterTargets(services: Services, actor: MemberActor): Promise<FilterTargets> {
  const query = {
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
    select: { id: true, name: true },
  } as const;
  const [agents, tools, triggers, keys, members] = await Promise.all([
    services.db.agent.findMany(query),
    services.db.tool.findMany(query),
    services.db.trigger.findMany(query),
    services.db.apiKey.findMany(query),
    services.db.member.findMany({
      where: { organizationId: actor.orgId },
      orderBy: { user: { name: "asc" } },
      select: { user: { select: { id: true, name: true } } },
    }),
  ]);
  return { agents, tools, triggers, keys, people: members.map(({ user }) => user) };
}
