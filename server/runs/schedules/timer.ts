import { z } from "zod";
import { defineQuery } from "@/server/base/db/statement";
import type { Services } from "@/server/runs/services";
import { attemptTicks } from "./attempt";
import { claimDueSchedules } from "./claim-due";

// Notifications may be lost.
const LONGEST_MS = 60_000;
// Another process has what is due.
const SHORTEST_MS = 1_000;
const RETRY_MS = 5_000;

/** Two looks into small partial indexes. */
const READ_NEXT = defineQuery(
  "read-next-schedule-time",
  z.object({ at: z.date().nullable() }),
  `SELECT least(
     (SELECT min(next_at) FROM schedules WHERE next_at IS NOT NULL),
     (SELECT min(attempt_at) FROM schedule_ticks WHERE outcome IS NULL)) AS at`,
);

/** Writes the due ticks of all schedules and starts their runs, until nothing is due. Any number of processes may do so. */
export async function runDueSchedules(
  services: Services,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  while (shouldContinue()) {
    const claimed = await claimDueSchedules(services);
    const attempted = await attemptTicks(services);
    if (claimed + attempted === 0) return;
  }
}

/** Starts the timer of a process: it sleeps until the next due time of all schedules. Returns a function that stops it. */
export function startScheduleTimer(services: Services): () => Promise<void> {
  const { pool, clock, log, notifications } = services;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let isWoken = false;

  const readWaitMs = async () => {
    const [next] = await READ_NEXT(pool);
    return next?.at ? next.at.getTime() - clock.now().getTime() : LONGEST_MS;
  };
  const work = async (): Promise<void> => {
    let waitMs = RETRY_MS;
    try {
      do {
        isWoken = false;
        waitMs = await readWaitMs();
        if (waitMs > 0) continue;
        await runDueSchedules(services, () => !stopped);
        waitMs = Math.max(SHORTEST_MS, await readWaitMs());
      } while (isWoken && !stopped);
    } catch (error) {
      if (!stopped) log.warn("Could not start scheduled runs; retrying in 5 s", { error });
    }
    if (stopped) return;
    timer = setTimeout(wake, Math.min(waitMs, LONGEST_MS));
    timer.unref();
  };
  const wake = () => {
    isWoken = true;
    if (stopped || working !== undefined) return;
    clearTimeout(timer);
    working = work().finally(() => {
      working = undefined;
    });
  };

  const unlisten = notifications.listen("schedule", wake);
  wake();
  return async () => {
    stopped = true;
    unlisten();
    clearTimeout(timer);
    await working;
  };
}
