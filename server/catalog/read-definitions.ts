import type { ApiKeyActor } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import { type Page, pageOf } from "@/server/base/db/page";
import { toPlainData } from "@/server/base/db/plain-data";
import { AppError } from "@/server/base/errors";
import type { Services } from "@/server/catalog/services";
import type { DEFINITION_STATUSES, RunKind } from "@/server/contract/enums";
import { declareAgent, declareTool, declareTrigger } from "./declare";
import { inUse } from "./definition-rows";
import { among, ofTargets } from "./key-targets";

/** Agents, tools and triggers as an API key sees them. A limited key sees its targets and their triggers. */

type Key = Pick<ApiKeyActor, "orgId" | "targetIds">;
type Reader = { db: Pick<Transaction, "agent" | "agentVersion" | "tool" | "toolVersion" | "trigger"> };
type Status = (typeof DEFINITION_STATUSES)[number];
export type PageOf = { cursor?: string | undefined; limit: number };

/** By slug, so that the order stays. */
export const pageBySlug = ({ cursor, limit }: PageOf) => ({
  orderBy: { slug: "asc" } as const,
  take: limit + 1,
  ...(cursor === undefined ? {} : { where: { slug: { gt: cursor } } }),
});

const LINE = { id: true, slug: true, name: true, version: true, createdAt: true, updatedAt: true } as const;

export async function listAgentLines(
  { db }: Services,
  key: Key,
  { status, ...page }: PageOf & { status?: Status | undefined },
) {
  const { where, ...order } = pageBySlug(page);
  const rows = await db.agent.findMany({
    where: { ...inUse(key), ...among(key), ...where, ...(status === undefined ? {} : { status }) },
    ...order,
    select: { ...LINE, status: true },
  });
  return pageOf(toPlainData(rows), page.limit, "slug");
}

export async function listToolLines({ db }: Services, key: Key, page: PageOf) {
  const { where, ...order } = pageBySlug(page);
  const rows = await db.tool.findMany({
    where: { ...inUse(key), ...among(key), ...where },
    ...order,
    select: { ...LINE, description: true },
  });
  return pageOf(toPlainData(rows), page.limit, "slug");
}

const TRIGGER_LINE = {
  id: true,
  slug: true,
  name: true,
  disabledAt: true,
  agentId: true,
  toolId: true,
  createdAt: true,
  updatedAt: true,
} as const;

type TriggerLine = {
  id: string;
  slug: string;
  name: string;
  status: Status;
  kind: RunKind;
  targetId: string;
  createdAt: string;
  updatedAt: string;
};

export async function listTriggerLines(
  { db }: Services,
  key: Key,
  { target, ...page }: PageOf & { target?: string | undefined },
): Promise<Page<TriggerLine>> {
  const { where, ...order } = pageBySlug(page);
  const wanted = target === undefined ? {} : { OR: [{ agentId: target }, { toolId: target }] };
  const rows = await db.trigger.findMany({
    where: { ...inUse(key), ...where, AND: [ofTargets(key), wanted] },
    ...order,
    select: TRIGGER_LINE,
  });
  return pageOf(rows.map(triggerLine), page.limit, "slug");
}

type TriggerRow = {
  id: string;
  slug: string;
  name: string;
  disabledAt: Date | null;
  agentId: string | null;
  toolId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

function triggerLine({ id, slug, name, disabledAt, agentId, toolId, ...times }: TriggerRow): TriggerLine {
  return {
    id,
    slug,
    name,
    status: disabledAt === null ? "active" : "inactive",
    kind: agentId === null ? "tool" : "agent",
    targetId: agentId ?? toolId ?? "",
    createdAt: times.createdAt.toISOString(),
    updatedAt: times.updatedAt.toISOString(),
  };
}

/** More versions are on the page of the agent or tool. */
const MAX_VERSIONS = 100;
const VERSIONS = {
  orderBy: { number: "desc" },
  take: MAX_VERSIONS,
  select: { number: true, note: true, createdAt: true },
} as const;

/** Throws `not_found`. */
export async function readAgent({ db }: Reader, key: Key, id: string) {
  const found = await db.agent.findFirst({
    where: { AND: [{ id }, among(key)], ...inUse(key) },
    select: { ...LINE, status: true, versions: VERSIONS },
  });
  if (!found) throw new AppError("not_found", "Agent not found.");
  const current = await db.agentVersion.findUniqueOrThrow({
    where: { agentId_number: { agentId: id, number: found.version } },
  });
  const { slug, name, status, versions } = found;
  const definition = declareAgent({ slug, name, status }, current);
  return { ...toPlainData(lineOf(found)), status, definition, versions: versions.map(versionLine) };
}

/** Throws `not_found`. */
export async function readTool({ db }: Reader, key: Key, id: string) {
  const found = await db.tool.findFirst({
    where: { AND: [{ id }, among(key)], ...inUse(key) },
    select: { ...LINE, description: true, versions: VERSIONS },
  });
  if (!found) throw new AppError("not_found", "Tool not found.");
  const current = await db.toolVersion.findUniqueOrThrow({
    where: { toolId_number: { toolId: id, number: found.version } },
  });
  const { slug, name, description, versions } = found;
  const definition = declareTool({ slug, name, description, ...current });
  return { ...toPlainData(lineOf(found)), description, definition, versions: versions.map(versionLine) };
}

/** Without its address and secrets. Throws `not_found`. */
export async function readTrigger({ db }: Reader, key: Key, id: string) {
  const found = await db.trigger.findFirst({ where: { id, ...inUse(key), ...ofTargets(key) } });
  if (found === null) throw new AppError("not_found", "Trigger not found.");
  const definition = declareTrigger({ ...found, ...(await readTarget({ db }, key, found)) });
  return { ...triggerLine(found), definition };
}

/** The slug of what a trigger or schedule starts. One after the other, because a transaction has one connection. */
export async function readTarget(
  { db }: { db: Pick<Transaction, "agent" | "tool"> },
  { orgId }: Pick<Key, "orgId">,
  { agentId, toolId }: { agentId: string | null; toolId: string | null },
) {
  const find = (id: string) => ({ where: { id, organizationId: orgId }, select: { slug: true } }) as const;
  return {
    agent: agentId === null ? null : await db.agent.findFirst(find(agentId)),
    tool: toolId === null ? null : await db.tool.findFirst(find(toolId)),
  };
}

type Line = { id: string; slug: string; name: string; version: number; createdAt: Date; updatedAt: Date };

const lineOf = ({ id, slug, name, version, createdAt, updatedAt }: Line): Line => ({
  id,
  slug,
  name,
  version,
  createdAt,
  updatedAt,
});

const versionLine = ({ number, note, createdAt }: { number: number; note: string; createdAt: Date }) => ({
  number,
  note,
  createdAt: createdAt.toISOString(),
});
