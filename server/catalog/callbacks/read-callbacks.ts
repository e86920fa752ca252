import type { ApiKeyActor } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import type { CallbackEndpoint } from "@/server/base/db/generated/client";
import { type Page, pageOf } from "@/server/base/db/page";
import { AppError } from "@/server/base/errors";
import { declareCallback } from "@/server/catalog/declare";
import { ofTargets, targetIdsOf } from "@/server/catalog/key-targets";
import { type PageOf, pageBySlug } from "@/server/catalog/read-definitions";
import type { Services } from "@/server/catalog/services";
import type { DEFINITION_STATUSES } from "@/server/contract/enums";

/**
 * Callbacks as an API key sees them. A limited key sees those whose filter names only what it may use, because the
 * others send runs of all agents and tools.
 */

type Key = Pick<ApiKeyActor, "orgId" | "targetIds">;
type Reader = { db: Pick<Transaction, "agent" | "tool" | "trigger" | "callbackEndpoint"> };

type CallbackLine = Pick<CallbackEndpoint, "id" | "name" | "events"> & {
  slug: string;
  url: string;
  status: (typeof DEFINITION_STATUSES)[number];
  failingSince: string | null;
  createdAt: string;
  updatedAt: string;
};

// Without the addresses that runs were started with.
async function ownCallbacks({ db }: Reader, key: Key) {
  const ids = targetIdsOf(key);
  const where = { organizationId: key.orgId, slug: { not: null } };
  if (ids === null) return where;
  const triggers = await db.trigger.findMany({
    where: { organizationId: key.orgId, ...ofTargets(key) },
    select: { id: true },
  });
  const foreign = await db.callbackEndpoint.findMany({ where, select: FILTER });
  const known = new Set([...ids, ...triggers.map(({ id }) => id)]);
  const own = foreign.filter(
    ({ targetIds, triggerIds }) =>
      targetIds.length > 0 && [...targetIds, ...triggerIds].every((id) => known.has(id)),
  );
  return { ...where, id: { in: own.map(({ id }) => id) } };
}

const FILTER = { id: true, targetIds: true, triggerIds: true } as const;

function callbackLine(callback: CallbackEndpoint): CallbackLine {
  const { id, slug, name, url, events, disabledAt, failingSince, createdAt, updatedAt } = callback;
  return {
    id,
    slug: slug ?? "",
    name,
    url: url ?? "",
    events,
    status: disabledAt === null ? "active" : "inactive",
    failingSince: failingSince?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export async function listCallbackLines(
  { db }: Services,
  key: Key,
  page: PageOf,
): Promise<Page<CallbackLine>> {
  const { where, ...order } = pageBySlug(page);
  const own = await ownCallbacks({ db }, key);
  const rows = await db.callbackEndpoint.findMany({
    where: { AND: [own, where ?? {}], deletedAt: null },
    ...order,
  });
  return pageOf(rows.map(callbackLine), page.limit, "slug");
}

/** Without its secrets. Throws `not_found`. */
export async function readCallback({ db }: Reader, key: Key, id: string) {
  const own = await ownCallbacks({ db }, key);
  const found = await db.callbackEndpoint.findFirst({ where: { AND: [own, { id }], deletedAt: null } });
  if (found === null) throw new AppError("not_found", "Callback not found.");
  const query = (ids: string[]) =>
    ({
      where: { organizationId: key.orgId, id: { in: ids } },
      select: { id: true, slug: true },
    }) as const;
  const inOrder = (ids: string[], rows: { id: string; slug: string }[]) =>
    ids.flatMap((id) => rows.find((row) => row.id === id)?.slug ?? []);
  const { targetIds, triggerIds } = found;
  // One after the other, because a transaction has one connection.
  const agents = inOrder(targetIds, await db.agent.findMany(query(targetIds)));
  const tools = inOrder(targetIds, await db.tool.findMany(query(targetIds)));
  const triggers = inOrder(triggerIds, await db.trigger.findMany(query(triggerIds)));
  return { ...callbackLine(found), definition: declareCallback(found, { agents, tools, triggers }) };
}

/** Also a deleted one. */
export async function findOwnCallback(
  db: Transaction,
  key: Key,
  id: string,
): Promise<{ id: string; slug: string; name: string; deletedAt: Date | null } | null> {
  const own = await ownCallbacks({ db }, key);
  const found = await db.callbackEndpoint.findFirst({ where: { AND: [own, { id }] } });
  return found && { id, slug: found.slug ?? "", name: found.name, deletedAt: found.deletedAt };
}
