import { isAppError } from "@/server/base/errors";
import { isJsonObject, readJson } from "@/server/base/json/json";
import { pauseAt } from "@/server/base/pause-points";
import type { TickCode } from "@/server/contract/enums";
import type { ErrorCode } from "@/server/contract/errors";
import { hashRequest } from "@/server/runs/idempotency";
import type { StartRequest } from "@/server/runs/prepare-start";
import type { Services } from "@/server/runs/services";
import { startRun } from "@/server/runs/start";
import { firstAttemptAt, lateReason, latestStart } from "./plan";
import {
  decideTick,
  queueTick,
  readTickFacts,
  TICK_SCOPE,
  type Tick,
  type TickDecision,
  takeTicks,
  tickKey,
} from "./ticks";

/**
 * Starts the runs of ticks whose time has come, or decides why not. Ticks of different schedules start side by side.
 * Returns how many ticks were taken.
 */
export async function attemptTicks(services: Services): Promise<number> {
  const ticks = await takeTicks(services.pool, services.clock.now());
  const bySchedule = new Map<string, Tick[]>();
  for (const tick of ticks)
    bySchedule.set(tick.scheduleId, [...(bySchedule.get(tick.scheduleId) ?? []), tick]);
  await Promise.all(
    [...bySchedule.values()].map(async (ofSchedule) => {
      ofSchedule.sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
      for (const tick of ofSchedule) await attemptTick(services, tick);
    }),
  );
  return ticks.length;
}

/** If it fails unexpectedly, any process tries again after the lease. */
async function attemptTick(services: Services, tick: Tick): Promise<void> {
  const { pool, clock, log } = services;
  try {
    await pauseAt("tick:before");
    const decision = await decide(services, tick);
    if (decision === "queue") return await queueTick(pool, tick, clock.now());
    await pauseAt("tick:after");
    await decideTick(pool, tick, { ...decision, at: clock.now() });
  } catch (error) {
    const { scheduleId, dueAt } = tick;
    log.warn("Could not start a scheduled run; retrying in 30 s", { schedule: scheduleId, dueAt, error });
  }
}

async function decide(services: Services, tick: Tick): Promise<TickDecision | "queue"> {
  const { overlap, queuedAt } = tick;
  const now = services.clock.now();
  const { ownRunId, openRunId, isQueueTaken } = await readTickFacts(services.pool, tick);
  if (ownRunId !== null) return { outcome: "started", runId: ownRunId };
  if (tick.isPaused) return skipped("paused", "The schedule was paused or deleted.");
  if (isLate(tick, now)) return { outcome: "missed", code: "too_late", reason: lateReason(tick) };
  if (openRunId !== null && overlap === "skip") {
    return skipped("still_running", `The earlier run ${openRunId} was still open.`);
  }
  if (overlap === "queue") {
    if (openRunId !== null && queuedAt === null && isQueueTaken) {
      return skipped("queue_full", `An earlier start already waited for the run ${openRunId}.`);
    }
    // Without an open run, the start that waited is about to begin, and this one is next.
    if (openRunId !== null || isQueueTaken) return "queue";
  }
  return start(services, tick);
}

function isLate(tick: Tick, now: Date): boolean {
  const { attemptAt, queuedAt, dueAt, catchUpSeconds } = tick;
  // No process looked at it for that long.
  if (now.getTime() - attemptAt.getTime() > catchUpSeconds * 1000) return true;
  const firstAt = firstAttemptAt({ ...tick, id: tick.scheduleId }, dueAt);
  return queuedAt === null && now > latestStart(tick, { dueAt, attemptAt: firstAt });
}

const skipped = (code: TickCode | ErrorCode, reason: string): TickDecision => ({
  outcome: "skipped",
  code,
  reason,
});

async function start(services: Services, tick: Tick): Promise<TickDecision> {
  const { orgId, scheduleId, name } = tick;
  const key = tickKey(tick);
  const idempotency = {
    scope: TICK_SCOPE,
    key,
    requestHash: hashRequest(key),
    answer: (runId: string) => ({ runId }),
  };
  try {
    const actor = { kind: "schedule", orgId, scheduleId, name } as const;
    const { runId } = await startRun(services, actor, { ...requestOf(tick), conditions: { idempotency } });
    return { outcome: "started", runId };
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    const [issue] = error.issues ?? [];
    const reason = issue === undefined ? error.message : `${error.message} ${issue.path} ${issue.message}`;
    return skipped(error.code, reason);
  }
}

function requestOf({ kind, targetId, input }: Tick): StartRequest {
  if (kind === "agent") return { kind, targetId, userMessage: input };
  const parsed = readJson(input);
  return { kind, targetId, input: isJsonObject(parsed) ? parsed : {} };
}
