import { grantMonthlyCredits } from "@/server/credits/monthly-grants";
import { findOverdueRuns, findUnwokenRuns, settleOverdueRuns } from "@/server/operate/reconciler";
import { removeExpired } from "@/server/operate/retention";
import { countSettledRuns } from "@/server/runs/count";
import { admitRuns } from "@/server/runs/dispatch";
import { isExecuting } from "@/server/runs/in-flight";
import { lookForCrowd } from "@/server/runs/turns";
import type { Engine, Services } from "@/server/services";
import { type Driver, startEmbedded, startOnServer } from "./driver";

/** Runs that are admitted ahead of being taken up: enough to keep the engines busy, few enough to wait behind. */
export const BACKLOG = 20;
/** How soon the next are admitted when there may be more than that. */
const LOOK_AGAIN_MS = 25;
/** How often it is looked who owes places to whom, while somebody does. */
const SHARE_AGAIN_MS = 100;
/** How often pending runs are looked for although nobody rang. */
const LOOK_EVERY_MS = 2_000;
/** How often what was lost is looked for. */
const RECONCILE_EVERY_MS = 5_000;
/** How often the month's credits are granted and expired data is removed. */
const KEEP_HOUSE_EVERY_MS = 60 * 60 * 1000;

/** An engine that can be started and stopped with the process. */
export type RunningEngine = Engine & {
  start(): Promise<void>;
  stop(graceMs?: number): Promise<void>;
  /** Answers an Inngest server's call at /api/inngest; null when runs are driven by the embedded engine. */
  handle(request: Request): Promise<Response> | null;
};

/** Assembles the engine that the configuration names, with the dispatcher and the reconciler in front of it. */
export function createEngine(getServices: () => Services): RunningEngine {
  let started: Dispatcher | undefined;
  let starting: Promise<void> | undefined;
  return {
    ring: () => started?.look(),
    ready: async () => (await started?.driver.ready()) ?? false,
    handle: (request) => started?.driver.handle?.(request) ?? null,
    start() {
      starting ??= (async () => {
        const services = getServices();
        const { inngest } = services.env;
        const driver =
          inngest === undefined ? await startEmbedded(services) : await startOnServer(services, inngest);
        started = startDispatcher(services, driver);
      })();
      return starting;
    },
    async stop(graceMs) {
      await started?.stop(graceMs);
      started = undefined;
    },
  };
}

type Dispatcher = { driver: Driver; look(): void; stop(graceMs?: number): Promise<void> };

/**
 * Admits pending runs and hands them over; looks for what was lost on the way and settles what is overdue. Every
 * process does it: the rows decide, so doing it twice is harmless.
 */
function startDispatcher(services: Services, driver: Driver): Dispatcher {
  const log = services.log.child({ component: "dispatcher" });
  let stopped = false;

  const guarded = (what: string, work: () => Promise<boolean>): (() => void) => {
    let busy = false;
    let again = false;
    return () => {
      if (busy || stopped) {
        again = busy;
        return;
      }
      busy = true;
      void (async () => {
        do {
          again = false;
          try {
            again = (await work()) || again;
          } catch (error) {
            log.warn(what, { error });
          }
        } while (again && !stopped);
        busy = false;
      })();
    };
  };

  const look = guarded("pending runs could not be admitted; they will be", async () => {
    const admitted = await admitRuns(services, BACKLOG);
    await driver.wake(admitted);
    if (admitted.length > 0) {
      setTimeout(look, LOOK_AGAIN_MS).unref();
      shareSoon(driver.beginsWithinMs + SHARE_AGAIN_MS);
    }
    return false;
  });
  let sharing = false;
  const shareSoon = (ms: number): void => {
    if (sharing) return;
    sharing = true;
    setTimeout(() => {
      sharing = false;
      share();
    }, ms).unref();
  };
  const share = guarded("it could not be looked who waits for a place; it will be", async () => {
    const crowded = await lookForCrowd(services, driver);
    if (crowded) shareSoon(SHARE_AGAIN_MS);
    return false;
  });
  let told = new Set<string>();
  const reconcile = guarded("the reconciler could not do its work; it will", async () => {
    // First what needs no engine: runs end in time although it cannot be reached.
    await settleOverdueRuns(services);
    await driver.wake(await findUnwokenRuns(services));
    const silent = await findOverdueRuns(services);
    for (const { engineRunId, ...wakeUp } of silent) {
      if (engineRunId !== null && (await driver.knows(engineRunId)) === true) continue;
      if (!told.has(wakeUp.eventId)) log.warn("a run lost its engine and is handed over again", wakeUp);
      await driver.wake([wakeUp]);
    }
    told = new Set(silent.map(({ eventId }) => eventId));
    return false;
  });

  /** By what is logged when one fails, which keeps none of the others from its turn. */
  const chores = {
    "the month's credits could not be granted; they will be": () => grantMonthlyCredits(services),
    "expired data could not be removed; it will be": () => removeExpired(services, () => !stopped),
    "settled runs could not be counted; they will be": () => countSettledRuns(services, () => !stopped),
  };
  const keepHouse = guarded("the hourly chores could not be done; they will be", async () => {
    for (const [what, chore] of Object.entries(chores)) {
      await chore().catch((error: unknown) => log.warn(what, { error }));
    }
    return false;
  });

  const timers = [
    setInterval(look, LOOK_EVERY_MS),
    setInterval(() => void (isExecuting(services) && share()), LOOK_EVERY_MS),
    setInterval(reconcile, RECONCILE_EVERY_MS),
    setInterval(keepHouse, KEEP_HOUSE_EVERY_MS),
  ];
  look();
  keepHouse();
  return {
    driver,
    look,
    async stop(graceMs?: number) {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await driver.stop(graceMs);
    },
  };
}
