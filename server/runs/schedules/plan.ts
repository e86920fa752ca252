import { createHash } from "node:crypto";
import type { TickCode } from "@/server/contract/enums";
import { nextTimes, type ScheduleRule } from "@/server/work/schedules/times";

// The most ticks of a schedule that start late at once; older ones are missed.
const MAX_CAUGHT_UP = 100;
const BATCH = 200;
const MAX_CATCH_UP_TICKS = 24 * 60 + 1;

export type DueSchedule = ScheduleRule & {
  id: string;
  nextAt: Date;
  catchUpSeconds: number;
  jitterSeconds: number;
};

/** `missed` is null for a tick that may still start. */
export type PlannedTick = {
  dueAt: Date;
  attemptAt: Date;
  missed: { code: Extract<TickCode, "too_late" | "too_many">; reason: string } | null;
};

/** The ticks of a schedule up to now, and its next time. After an outage of weeks, only some of them. */
export function planTicks(schedule: DueSchedule, now: Date): { ticks: PlannedTick[]; nextAt: Date | null } {
  const { nextAt, catchUpSeconds } = schedule;
  const windowStart = new Date(now.getTime() - catchUpSeconds * 1000);
  const before = (at: Date) => new Date(at.getTime() - 1);
  const late = nextTimes(schedule, { after: before(nextAt), until: before(windowStart), limit: BATCH });
  const ticks = late.map((dueAt) =>
    plan(schedule, dueAt, { code: "too_late", reason: lateReason(schedule) }),
  );
  const lastLate = late.at(-1);
  if (late.length === BATCH && lastLate !== undefined) {
    return { ticks, nextAt: nextTimes(schedule, { after: lastLate, limit: 1 })[0] ?? null };
  }
  const after = before(nextAt > windowStart ? nextAt : windowStart);
  const due = nextTimes(schedule, { after, until: now, limit: MAX_CATCH_UP_TICKS });
  const reason = `More than ${MAX_CAUGHT_UP} due times were not started.`;
  for (const [index, dueAt] of due.entries()) {
    const isTooMany = index < due.length - MAX_CAUGHT_UP;
    ticks.push(plan(schedule, dueAt, isTooMany ? { code: "too_many", reason } : null));
  }
  return { ticks, nextAt: nextTimes(schedule, { after: now, limit: 1 })[0] ?? null };
}

export function lateReason({ catchUpSeconds }: Pick<DueSchedule, "catchUpSeconds">): string {
  return `Nothing was started within the catch-up window of ${describeSeconds(catchUpSeconds)}.`;
}

/** When a tick may still start. */
export function latestStart(
  { catchUpSeconds }: Pick<DueSchedule, "catchUpSeconds">,
  tick: { dueAt: Date; attemptAt: Date },
): Date {
  // A delay of its own does not make it late.
  const afterDelay = tick.attemptAt.getTime() + SHORTEST_CATCH_UP_MS;
  return new Date(Math.max(tick.dueAt.getTime() + catchUpSeconds * 1000, afterDelay));
}

const SHORTEST_CATCH_UP_MS = 60_000;

function plan(schedule: DueSchedule, dueAt: Date, missed: PlannedTick["missed"]): PlannedTick {
  return { dueAt, attemptAt: missed ? dueAt : firstAttemptAt(schedule, dueAt), missed };
}

type DelayedSchedule = ScheduleRule & Pick<DueSchedule, "id" | "jitterSeconds">;

/**
 * The due time and its delay, spread evenly from 0 to the schedule's jitter; the same in every process. It is before the
 * next due time: ticks start in order, and one that waits for its delay must not make the next one late.
 */
export function firstAttemptAt(schedule: DelayedSchedule, dueAt: Date): Date {
  const { id, jitterSeconds } = schedule;
  if (jitterSeconds === 0) return dueAt;
  const [next] = nextTimes(schedule, { after: dueAt, limit: 1 });
  const gapMs = next ? next.getTime() - dueAt.getTime() : Number.POSITIVE_INFINITY;
  const digest = createHash("sha256").update(`${id} ${dueAt.toISOString()}`).digest();
  const share = digest.readUInt32BE(0) / 2 ** 32;
  return new Date(dueAt.getTime() + Math.floor(share * Math.min(jitterSeconds * 1000, gapMs)));
}

function describeSeconds(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
