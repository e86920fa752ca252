import { Inngest } from "inngest";
import { findUnwokenRuns } from "@/server/operate/reconciler";
import { type AdmittedRun, admitRuns } from "@/server/runs/dispatch";
import type { Engine, Services } from "@/server/services";
import { createEmbeddedEngine } from "./embedded/engine";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/** Runs that all processes together may have in flight at once, over all organizations. */
const CAPACITY = 200;
/** Jobs that one process performs at a time. */
const CONCURRENCY = 40;
/** How often pending runs are looked for although nobody rang. */
const LOOK_EVERY_MS = 2_000;

/** An engine that can be started and stopped with the process. */
export type RunningEngine = Engine & {
  start(): Promise<void>;
  stop(graceMs?: number): Promise<void>;
};

/**
 * Assembles the embedded engine: the SDK's client talks to it in-process, the dispatcher admits pending runs and
 * wakes them by events whose id is the run's.
 */
export function createEngine(getServices: () => Services): RunningEngine {
  let started: { stop(graceMs?: number): Promise<void>; ready(): Promise<boolean>; look(): void } | undefined;
  return {
    ring: () => started?.look(),
    ready: async () => (await started?.ready()) ?? false,
    async start() {
      started ??= await startEmbedded(getServices());
    },
    async stop(graceMs) {
      await started?.stop(graceMs);
      started = undefined;
    },
  };
}

async function startEmbedded(services: Services) {
  const { pool, env, clock } = services;
  const log = services.log.child({ component: "dispatcher" });
  const engine = createEmbeddedEngine({
    pool,
    listenConfig: { connectionString: env.databaseUrl },
    clock,
    log: services.log,
    concurrency: CONCURRENCY,
  });
  const client = new Inngest({
    id: "stepwell",
    fetch: engine.fetch,
    isDev: true,
    baseUrl: "http://engine.local",
  });
  await engine.register(client, createRunFunctions(client, services));
  await engine.start();

  const wake = async (runs: AdmittedRun[]): Promise<void> => {
    if (runs.length === 0) return;
    await client.send(
      runs.map((run) => ({ id: run.id, name: RUN_EVENTS[run.kind], data: { runId: run.id } })),
    );
  };

  let looking = false;
  let again = false;
  let stopped = false;
  const look = (): void => {
    if (stopped) return;
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    void (async () => {
      do {
        again = false;
        try {
          await wake(await admitRuns(services, CAPACITY));
        } catch (error) {
          log.warn("pending runs could not be admitted; they will be", { error });
        }
      } while (again && !stopped);
      looking = false;
    })();
  };
  const lookAgain = async (): Promise<void> => {
    look();
    try {
      await wake(await findUnwokenRuns(services));
    } catch (error) {
      log.warn("admitted runs could not be handed over; they will be", { error });
    }
  };
  const timer = setInterval(() => void lookAgain(), LOOK_EVERY_MS);
  look();
  return {
    look,
    ready: () => engine.ready(),
    async stop(graceMs?: number) {
      stopped = true;
      clearInterval(timer);
      await engine.stop(graceMs);
    },
  };
}
