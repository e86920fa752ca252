import type { ApiKeyActor } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import type { Schedule } from "@/server/base/db/generated/client";
import { type Page, pageOf } from "@/server/base/db/page";
import { AppError } from "@/server/base/errors";
import { declareSchedule } from "@/server/catalog/declare";
import { inUse } from "@/server/catalog/definition-rows";
import { ofTargets } from "@/server/catalog/key-targets";
import { type PageOf, pageBySlug, readTarget } from "@/server/catalog/read-definitions";
import type { Services } from "@/server/catalog/services";
import type { RunKind } from "@/server/contract/enums";

/** Schedules as an API key sees them. A limited key sees those of its targets. */

type Key = Pick<ApiKeyActor, "orgId" | "targetIds">;

type ScheduleLine = Pick<Schedule, "id" | "slug" | "name" | "cron" | "timeZone"> & {
  paused: boolean;
  nextAt: string | null;
  kind: RunKind;
  targetId: string;
  createdAt: string;
  updatedAt: string;
};

function scheduleLine(schedule: Schedule): ScheduleLine {
  const { id, slug, name, cron, timeZone, agentId, toolId, pausedAt, nextAt, ...times } = schedule;
  return {
    id,
    slug,
    name,
    kind: agentId === null ? "tool" : "agent",
    targetId: agentId ?? toolId ?? "",
    cron,
    timeZone,
    paused: pausedAt !== null,
    nextAt: nextAt?.toISOString() ?? null,
    createdAt: times.createdAt.toISOString(),
    updatedAt: times.updatedAt.toISOString(),
  };
}

export async function listScheduleLines(
  { db }: Services,
  key: Key,
  { target, ...page }: PageOf & { target?: string | undefined },
): Promise<Page<ScheduleLine>> {
  const { where, ...order } = pageBySlug(page);
  const wanted = target === undefined ? {} : { OR: [{ agentId: target }, { toolId: target }] };
  const rows = await db.schedule.findMany({
    where: { ...inUse(key), ...where, AND: [ofTargets(key), wanted] },
    ...order,
  });
  return pageOf(rows.map(scheduleLine), page.limit, "slug");
}

/** Throws `not_found`. */
export async function readSchedule(
  { db }: { db: Pick<Transaction, "agent" | "tool" | "schedule"> },
  key: Key,
  id: string,
) {
  const found = await db.schedule.findFirst({ where: { id, ...inUse(key), ...ofTargets(key) } });
  if (found === null) throw new AppError("not_found", "Schedule not found.");
  const definition = declareSchedule({ ...found, ...(await readTarget({ db }, key, found)) });
  return { ...scheduleLine(found), definition };
}
