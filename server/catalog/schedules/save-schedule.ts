import { z } from "zod";
import { type Facts, recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import type { Schedule } from "@/server/base/db/generated/client";
import { defineQuery, queryThrough } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import { writeJson } from "@/server/base/json/json";
import {
  type Author,
  type Change,
  catalogVerb,
  checkExpectation,
  type Expectation,
  type Saved,
  saveItem,
  savingVerb,
  statusToSave,
} from "@/server/catalog/change";
import { type ScheduleDefinition, scheduleDefinition } from "@/server/catalog/definitions";
import { resolveTarget } from "@/server/catalog/resolve-slugs";
import { idInput } from "@/server/contract/ids";
import { describeRuleIssue, nextTimes, type ScheduleRule } from "@/server/work/schedules/times";

type SavedSchedule = { id: string; slug: string; saved: Saved };

/** Creates or updates the organization's schedule of that slug. Its earlier due times are not made up for. */
export const saveSchedule = savingVerb(scheduleDefinition, putSchedule);

/** `saveSchedule` within a change, for a parsed definition. */
export async function putSchedule(
  change: Change<Author>,
  definition: ScheduleDefinition,
  { replaces, ...expected }: Expectation = {},
): Promise<SavedSchedule> {
  const { tx, actor, at } = change;
  const { slug, cron, timeZone, overlap, catchUpSeconds, jitterSeconds } = definition;
  const found = await tx.schedule.findUnique({
    where: { organizationId_slug: { organizationId: actor.orgId, slug } },
  });
  checkExpectation("schedule", found, { slug, ...expected });
  const stored = found ? found.pausedAt !== null : undefined;
  const paused = statusToSave(definition.paused, { stored, opened: replaces?.paused });
  const { agent = null, tool = null } = definition;
  const target = await resolveTarget(change, { agent, tool }, found);
  const issue = describeRuleIssue({ cron, timeZone }, at);
  const issues = [...target.issues, ...(issue ? [{ path: `/${issue.field}`, message: issue.message }] : [])];
  if (issues.length > 0) throw rejection(issues);

  const id = found?.id ?? newId();
  const name = definition.name ?? slug;
  const input = agent === null ? writeJson(definition.input ?? {}) : (definition.message ?? "");
  const columns = { name, input, cron, timeZone, overlap, catchUpSeconds, jitterSeconds };
  const after = { ...columns, agent, tool, paused };
  const before = found && scheduleFacts(found, await readTarget(tx, found));
  const subject = { kind: "schedule" as const, id, name };
  const restores = found?.deletedAt != null;
  const compared = { subject, before, after, restores, replaces };
  const saved = await saveItem(change, compared, async (changed) => {
    const isDueAgain = restores || ["cron", "timeZone", "paused"].some((field) => changed.has(field));
    const data = {
      ...columns,
      agentId: agent === null ? null : target.id,
      toolId: tool === null ? null : target.id,
      pausedAt: paused ? (found?.pausedAt ?? at) : null,
      ...(isDueAgain ? { nextAt: paused ? null : firstTime({ cron, timeZone }, at) } : {}),
      updatedAt: at,
      deletedAt: null,
    };
    const created = { ...data, id, organizationId: actor.orgId, slug, createdAt: at };
    await tx.schedule.upsert({ where: { id }, update: data, create: created });
    await wakeTimers(tx);
  });
  return { id, slug, saved };
}

/** Pauses or resumes a schedule. Due times during a pause start no run, not even later. Throws `not_found`. */
export const setSchedulePaused = catalogVerb(
  { role: "member", input: z.object({ id: idInput(), paused: z.boolean() }) },
  async (change, { id, paused }) => {
    const { tx, actor, at } = change;
    const found = await tx.schedule.findFirst({
      where: { id, organizationId: actor.orgId, deletedAt: null },
    });
    if (!found) throw new AppError("not_found", "Schedule not found.");
    const before = found.pausedAt !== null;
    if (before === paused) return;
    const next = paused ? { pausedAt: at, nextAt: null } : { pausedAt: null, nextAt: firstTime(found, at) };
    await tx.schedule.update({ where: { id }, data: { ...next, updatedAt: at } });
    await wakeTimers(tx);
    const subject = { kind: "schedule" as const, id, name: found.name };
    await recordAudit(change, {
      verb: "updated",
      subject,
      changes: { paused: { from: before, to: paused } },
    });
  },
);

function firstTime(rule: ScheduleRule, after: Date): Date | null {
  return nextTimes(rule, { after, limit: 1 })[0] ?? null;
}

// When the transaction commits, the timers look at the next time again.
async function wakeTimers(tx: Transaction): Promise<void> {
  await NOTIFY(queryThrough(tx));
}

const NOTIFY = defineQuery(
  "notify-schedule-timers",
  z.object({}),
  // Prisma reads no columns of type void.
  "SELECT pg_notify('stepwell_schedule', '')::text",
);

type Target = { agent: { slug: string } | null; tool: { slug: string } | null };

async function readTarget(tx: Transaction, { agentId, toolId }: Schedule): Promise<Target> {
  const select = { slug: true } as const;
  return {
    agent: agentId === null ? null : await tx.agent.findUnique({ where: { id: agentId }, select }),
    tool: toolId === null ? null : await tx.tool.findUnique({ where: { id: toolId }, select }),
  };
}

/** The facts that a schedule's form shows. */
export function scheduleFacts(found: Schedule, { agent, tool }: Target): Facts {
  const { name, input, cron, timeZone, overlap, catchUpSeconds, jitterSeconds, pausedAt } = found;
  const columns = { name, input, cron, timeZone, overlap, catchUpSeconds, jitterSeconds };
  return { ...columns, agent: agent?.slug ?? null, tool: tool?.slug ?? null, paused: pausedAt !== null };
}
