import { z } from "zod";
import type { MemberActor, OrgId } from "@/server/base/actor";
import { Prisma } from "@/server/base/db/generated/client";
import { type PageRequest, pageOf } from "@/server/base/db/page";
import { toPlainData } from "@/server/base/db/plain-data";
import { isoDate, select } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { inUse } from "@/server/catalog/definition-rows";
import { scheduleFacts } from "@/server/catalog/schedules/save-schedule";
import type { Services } from "@/server/catalog/services";
import { RUN_STATUSES, TICK_OUTCOMES } from "@/server/contract/enums";
import { startFromDashboard } from "@/server/runs/rerun";
import type { StartConditions } from "@/server/runs/start-item";
import { localTime } from "@/server/work/schedules/time-zone";
import { describeRuleIssue, nextTimes, type ScheduleRule } from "@/server/work/schedules/times";

const SHOWN_TIMES = 10;
const LAST_TICKS = 10;

const target = { select: { id: true, slug: true, name: true, deletedAt: true } } as const;

type Targeted = {
  agent: { id: string; slug: string; name: string; deletedAt: Date | null } | null;
  tool: { id: string; slug: string; name: string; deletedAt: Date | null } | null;
};

function targetOf({ agent, tool }: Targeted) {
  const found = agent ?? tool;
  return {
    kind: agent ? ("agent" as const) : ("tool" as const),
    id: found?.id ?? "",
    slug: found?.slug ?? "",
    name: found?.name ?? "",
    gone: !found || found.deletedAt !== null,
  };
}

export type ScheduleLine = Awaited<ReturnType<typeof listSchedules>>[number];

/** The organization's schedules by name. `lastTicks` are the last ten, newest first. */
export async function listSchedules(services: Services, actor: MemberActor) {
  const schedules = await services.db.schedule.findMany({
    where: inUse(actor),
    orderBy: { name: "asc" },
    include: { agent: target, tool: target },
  });
  if (schedules.length === 0) return [];
  const ids = schedules.map(({ id }) => id);
  const ticks = await readTicks(services, actor.orgId, { ids, limit: LAST_TICKS });
  return schedules.map((schedule) => {
    const { id, slug, name, cron, timeZone, overlap, nextAt, pausedAt } = schedule;
    return {
      ...toPlainData({ id, slug, name, cron, timeZone, overlap, nextAt, pausedAt }),
      target: targetOf(schedule),
      lastTicks: ticks.filter((tick) => tick.scheduleId === id),
    };
  });
}

export type ScheduleDetail = Awaited<ReturnType<typeof inspectSchedule>>;

/**
 * The data of a schedule's page. `input` is the agent's message or the tool's JSON. `facts` are what the form replaces.
 * Throws `not_found`.
 */
export async function inspectSchedule(
  { db }: Services,
  actor: MemberActor,
  { scheduleId }: { scheduleId: string },
) {
  const schedule = await db.schedule.findFirst({
    where: { ...inUse(actor), id: scheduleId },
    include: { agent: target, tool: target },
  });
  if (!schedule) throw new AppError("not_found", "Schedule not found.");
  const { agent, tool, organizationId, deletedAt, agentId, toolId, ...columns } = schedule;
  const facts = scheduleFacts(schedule, { agent, tool });
  return { ...toPlainData(columns), target: targetOf(schedule), facts };
}

const tickLine = z.object({
  scheduleId: z.string(),
  dueAt: isoDate,
  /** Null: not decided yet. */
  outcome: z.enum(TICK_OUTCOMES).nullable(),
  queuedAt: isoDate.nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  decidedAt: isoDate.nullable(),
  runId: z.string().nullable(),
  /** Null if nothing started, or the run was deleted. */
  runStatus: z.enum(RUN_STATUSES).nullable(),
});
export type TickLine = z.infer<typeof tickLine>;

/** The ticks of a schedule, newest first, by cursor. Throws `not_found`. */
export async function listTicks(
  services: Services,
  actor: MemberActor,
  { scheduleId, cursor, limit }: PageRequest & { scheduleId: string },
) {
  await inspectSchedule(services, actor, { scheduleId });
  const before = cursor ?? undefined;
  const ticks = await readTicks(services, actor.orgId, { ids: [scheduleId], limit: limit + 1, before });
  return pageOf(ticks, limit, "dueAt");
}

function readTicks(
  { pool }: Services,
  orgId: OrgId,
  { ids, limit, before }: { ids: string[]; limit: number; before?: string | undefined },
): Promise<TickLine[]> {
  const older = before === undefined ? Prisma.empty : Prisma.sql`AND t.due_at < ${before}::timestamptz`;
  return select(
    pool,
    tickLine,
    Prisma.sql`
    SELECT t.schedule_id AS "scheduleId", t.due_at AS "dueAt", t.outcome::text AS outcome, t.queued_at AS "queuedAt",
      t.code, t.reason, t.decided_at AS "decidedAt", t.run_id AS "runId", r.status::text AS "runStatus"
    FROM unnest(${ids}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
      SELECT * FROM schedule_ticks t
      WHERE t.organization_id = ${orgId}::uuid AND t.schedule_id = wanted.id ${older}
      ORDER BY t.due_at DESC LIMIT ${limit}) t
    LEFT JOIN runs r ON r.id = t.run_id AND r.organization_id = t.organization_id
    ORDER BY t.due_at DESC`,
  );
}

/** The next ten times of a rule; `local` is the time in its zone, as `2026-11-28T02:30`. An issue instead if it is wrong. */
export async function previewTimes({ clock }: Services, _: MemberActor, rule: ScheduleRule) {
  const after = clock.now();
  const issue = describeRuleIssue(rule, after);
  if (issue !== null) return { issue, times: [] };
  const times = nextTimes(rule, { after, limit: SHOWN_TIMES }).map((at) => ({
    at: at.toISOString(),
    local: new Date(localTime(rule.timeZone, at.getTime())).toISOString().slice(0, 16),
  }));
  return { issue: null, times };
}

/** Starts a schedule's run now, by the member, beside its due times. Throws the errors of `startFromDashboard`. */
export async function runScheduleNow(
  services: Services,
  actor: MemberActor,
  { conditions, ...reference }: { scheduleId: string; conditions?: StartConditions | undefined },
): Promise<{ runId: string }> {
  const { target, input } = await inspectSchedule(services, actor, reference);
  return startFromDashboard(services, actor, { kind: target.kind, id: target.id, input, conditions });
}
