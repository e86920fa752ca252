import { findLostRuns } from "@/server/operate/lost-runs";
import { startMaintenance } from "@/server/operate/maintenance";
import { createRunEngine, type RunEngine } from "@/server/runs/engine/engine";
import { endedRunFacts } from "@/server/runs/engine/run-facts-of";
import type { Services } from "@/server/services";
import { createEmbeddedDriver } from "./embedded";
import { createServerDriver, type ServerDriver } from "./server";

/** How often runs that an Inngest server lost are looked for. */
const LOST_EVERY_MS = 5_000;

/** The engine of a process, assembled as the configuration says. */
export type RunningEngine = RunEngine & {
  /** Starts to execute runs. Without it, this process only starts, reads and cancels them. */
  execute(): void;
  /** Answers an Inngest server's call at /api/inngest; null when runs are driven by the embedded engine. */
  handle(request: Request): Promise<Response> | null;
  /** Why an Inngest server cannot be used; null when it can, and on the embedded engine. */
  problem(): Promise<string | null>;
};

/** Assembles the engine that the configuration names. */
export function createEngine(getServices: () => Services, { slots }: { slots: number }): RunningEngine {
  const engine = createRunEngine(getServices, {
    slots,
    onEnd(run, end) {
      const { endedRuns, log } = getServices();
      const facts = endedRunFacts(run, end);
      endedRuns.add(run.orgId, facts);
      log.info("run ended", {
        runId: run.id,
        orgId: run.orgId,
        kind: run.kind,
        status: facts.status,
        durationMs: end.finishedAt.getTime() - run.startedAt.getTime(),
        steps: facts.stepsExecuted,
        ...(end.outcome.status === "Failed" ? { code: end.outcome.code } : {}),
      });
    },
  });
  let server: ServerDriver | undefined;
  let stopMaintenance = async () => {};
  let timer: NodeJS.Timeout | undefined;

  return {
    ...engine,
    ready: async () => (await engine.ready()) && ((await server?.problem()) ?? null) === null,
    problem: async () => (await server?.problem()) ?? null,
    handle: (request) => server?.handle(request) ?? null,
    execute() {
      const services = getServices();
      const { inngest } = services.env;
      if (inngest === undefined) {
        engine.start(createEmbeddedDriver(engine));
      } else {
        server = createServerDriver(services, engine, inngest);
        const { driver } = server;
        engine.start(driver);
        if (driver.kind === "server") {
          timer = setInterval(() => {
            findLostRuns(services)
              .then((runs) => driver.handOver(runs))
              .catch((error: unknown) =>
                services.log.warn("Could not hand over lost runs; trying again", { error }),
              );
          }, LOST_EVERY_MS);
          timer.unref();
        }
      }
      stopMaintenance = startMaintenance(services);
    },
    async stop(graceMs) {
      clearInterval(timer);
      server?.stop();
      await stopMaintenance();
      await engine.stop(graceMs);
    },
  };
}
