import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { toPlainData } from "@/server/base/db/plain-data";
import { defineQuery, isoDate, select } from "@/server/base/db/statement";
import { nameActors } from "@/server/base/name-actors";
import type { Services } from "@/server/catalog/services";
import { DELIVERY_OUTCOMES, RUN_STATUSES, type RunKind } from "@/server/contract/enums";
import { readWeek } from "@/server/runs/read/metrics/metrics";
import { openRuns, queuedRuns } from "@/server/runs/read/run-rows";
import { listAgentModels } from "./agent-rows";
import { inUse } from "./definition-rows";

const LINE = { id: true, slug: true, name: true, version: true, updatedAt: true } as const;
const BY_NAME = { orderBy: { name: "asc" } } as const;

export type AgentLine = Awaited<ReturnType<typeof listAgents>>[number];

/** The organization's agents with their current version, by name. */
export async function listAgents(services: Services, actor: MemberActor) {
  const agents = await services.db.agent.findMany({
    where: inUse(actor),
    ...BY_NAME,
    select: { ...LINE, status: true },
  });
  const withRuns = await readRunsOf(services, actor, { kind: "agent", listed: agents });
  const models = await listAgentModels(services.pool, actor.orgId);
  const modelOf = new Map(models.map(({ id, model }) => [id, model]));
  return agents.map((agent) => ({ ...withRuns(agent), model: modelOf.get(agent.id) ?? "" }));
}

export type ToolLine = Awaited<ReturnType<typeof listTools>>[number];

/** The organization's tools with their current version, by name. */
export async function listTools(services: Services, actor: MemberActor) {
  const tools = await services.db.tool.findMany({
    where: inUse(actor),
    ...BY_NAME,
    select: { ...LINE, description: true },
  });
  return tools.map(await readRunsOf(services, actor, { kind: "tool", listed: tools }));
}

/** `week` is null without a run in the last seven days. */
async function readRunsOf(
  services: Pick<Services, "clock" | "pool">,
  actor: MemberActor,
  { kind, listed }: { kind: RunKind; listed: { id: string }[] },
) {
  const ids = listed.map(({ id }) => id);
  const [lastRuns, weeks] = await Promise.all([
    readLastRuns(services, actor.orgId, ids),
    readWeek(services, actor, kind),
  ]);
  return <Row extends { id: string }>(row: Row) => ({
    ...toPlainData(row),
    lastRun: lastRuns.get(row.id) ?? null,
    week: weeks.get(row.id) ?? null,
  });
}

/** The organization's triggers with their newest delivery, by name. */
export async function listTriggers(services: Services, actor: MemberActor) {
  const target = { select: { id: true, name: true, deletedAt: true } };
  const triggers = await services.db.trigger.findMany({
    where: inUse(actor),
    ...BY_NAME,
    select: { id: true, slug: true, name: true, disabledAt: true, agent: target, tool: target },
  });
  const ids = triggers.map(({ id }) => id);
  const [lastCalls, weeks] = await Promise.all([
    readLastCalls(services, actor.orgId, ids),
    readWeek(services, actor, "trigger"),
  ]);
  return triggers.map(({ agent, tool, disabledAt, ...trigger }) => {
    const found = agent ?? tool;
    return {
      ...trigger,
      enabled: disabledAt === null,
      target: {
        kind: agent ? ("agent" as const) : ("tool" as const),
        id: found?.id ?? "",
        name: found?.name ?? "",
        gone: !found || found.deletedAt !== null,
      },
      lastCall: lastCalls.get(trigger.id) ?? null,
      week: weeks.get(trigger.id) ?? null,
    };
  });
}

export type KeyLine = Awaited<ReturnType<typeof listKeys>>[number];

/** The organization's API keys: usable ones first, then by name. `targets` is empty if a key is not limited. */
export async function listKeys(services: Pick<Services, "clock" | "db">, actor: MemberActor) {
  const now = services.clock.now();
  const keys = await services.db.apiKey.findMany({
    where: { organizationId: actor.orgId },
    orderBy: [{ revokedAt: { sort: "desc", nulls: "first" } }, { name: "asc" }],
    select: {
      id: true,
      name: true,
      prefix: true,
      scopes: true,
      targetIds: true,
      createdBy: true,
      createdAt: true,
      lastUsedAt: true,
      expiresAt: true,
      revokedAt: true,
    },
  });
  const limitedTo = [...new Set(keys.flatMap((key) => key.targetIds))];
  const query = {
    where: { organizationId: actor.orgId, id: { in: limitedTo } },
    select: { id: true, name: true },
  };
  const creators = keys.map((key) => key.createdBy);
  const [nameOf, agents, tools] = await Promise.all([
    nameActors(services, actor.orgId, creators),
    limitedTo.length === 0 ? [] : services.db.agent.findMany(query),
    limitedTo.length === 0 ? [] : services.db.tool.findMany(query),
  ]);
  const targets = new Map([...agents, ...tools].map(({ id, name }) => [id, name]));
  return keys.map(({ targetIds, ...key }) => ({
    ...toPlainData(key),
    targets: targetIds.map((id) => targets.get(id) ?? "a deleted target"),
    createdBy: nameOf(key.createdBy),
    state: stateOfKey(key, now),
  }));
}

export function stateOfKey(
  { revokedAt, expiresAt }: { revokedAt: Date | null; expiresAt: Date | null },
  now: Date,
): "active" | "expired" | "revoked" {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "active";
}

const lastRunRow = z.object({
  of: z.string(),
  id: z.string(),
  status: z.enum(RUN_STATUSES),
  createdAt: isoDate,
});
export type LastRun = Omit<z.output<typeof lastRunRow>, "of">;

// One lookup each in the index of ended runs, and one pass over the other runs.
async function readLastRuns(
  services: Pick<Services, "clock" | "pool">,
  orgId: OrgId,
  ids: string[],
): Promise<Map<string, LastRun>> {
  if (ids.length === 0) return new Map();
  const now = services.clock.now();
  const statement = Prisma.sql`
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
  const rows = await select(services.pool, lastRunRow, statement);
  return new Map(rows.map(({ of, ...run }) => [of, run]));
}

const lastCallRow = z.object({
  of: z.string(),
  id: z.string(),
  outcome: z.enum(DELIVERY_OUTCOMES),
  status: z.number(),
  receivedAt: isoDate,
});
/** The newest delivery of a trigger; `status` is the HTTP status of the response. */
export type LastCall = Omit<z.output<typeof lastCallRow>, "of">;

const FIND_LAST_CALLS = defineQuery(
  "find-last-calls",
  lastCallRow,
  `SELECT wanted.id AS of, d.id, d.outcome, d.status, d.received_at AS "receivedAt"
   FROM unnest($2::uuid[]) AS wanted(id)
   CROSS JOIN LATERAL (
     SELECT id, outcome, status, received_at FROM deliveries
     WHERE organization_id = $1 AND trigger_id = wanted.id ORDER BY id DESC LIMIT 1
   ) d`,
);

async function readLastCalls(
  { pool }: Pick<Services, "pool">,
  orgId: OrgId,
  triggerIds: string[],
): Promise<Map<string, LastCall>> {
  if (triggerIds.length === 0) return new Map();
  const rows = await FIND_LAST_CALLS(pool, [orgId, triggerIds]);
  return new Map(rows.map(({ of, ...call }) => [of, call]));
}

export type DirectoryEntry = Awaited<ReturnType<typeof listDirectory>>[number];

/** The organization's agents, tools and triggers by name, without deleted ones, for the palette. */
export async function listDirectory({ db }: Pick<Services, "db">, actor: MemberActor) {
  const query = { where: inUse(actor), ...BY_NAME, select: { id: true, slug: true, name: true } };
  const [agents, tools, triggers] = await Promise.all([
    db.agent.findMany(query),
    db.tool.findMany(query),
    db.trigger.findMany(query),
  ]);
  return [
    ...agents.map((each) => ({ kind: "agent" as const, ...each })),
    ...tools.map((each) => ({ kind: "tool" as const, ...each })),
    ...triggers.map((each) => ({ kind: "trigger" as const, ...each })),
  ];
}

export type FilterTargets = Awaited<ReturnType<typeof listFilterTargets>>;

/**
 * The values by which runs can be filtered, including deleted items, whose runs still exist. `people` are members, by
 * user id.
 */
export async function listFilterTargets({ db }: Pick<Services, "db">, actor: MemberActor) {
  const where = { organizationId: actor.orgId };
  const query = { where, ...BY_NAME, select: { id: true, name: true } };
  const [agents, tools, triggers, schedules, keys, members] = await Promise.all([
    db.agent.findMany(query),
    db.tool.findMany(query),
    db.trigger.findMany(query),
    db.schedule.findMany(query),
    db.apiKey.findMany(query),
    db.member.findMany({
      where,
      orderBy: { user: { name: "asc" } },
      select: { user: { select: { id: true, name: true } } },
    }),
  ]);
  return { agents, tools, triggers, schedules, keys, people: members.map(({ user }) => user) };
}
