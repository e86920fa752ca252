import { findLostRuns, releaseLostRuns } from "@/server/operate/lost-runs";
import { startMaintenance } from "@/server/operate/maintenance";
import { createRunEngine, type RunEngine } from "@/server/runs/engine/engine";
import { endedRunFacts } from "@/server/runs/engine/poll-facts";
import type { Services } from "@/server/services";
import { createEmbeddedDriver } from "./embedded";
import { createServerDriver, type ServerDriver } from "./server";

/** How often the engine looks for runs that an Inngest server lost. */
const LOST_EVERY_MS = 5_000;

/** The engine of a process, as configured. */
export type RunningEngine = RunEngine & {
  /** Starts to execute runs. Without it, this process only starts, reads and cancels them. */
  execute(): void;
  /** Handles an Inngest server's call at /api/inngest: 404 on the embedded engine, 503 if this process executes no runs. */
  handle(request: Request): Promise<Response>;
};

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
  const seekLostRuns = ({ log }: Services, handOver: () => Promise<void>) => {
    timer = setInterval(() => {
      handOver().catch((error: unknown) => log.warn("Could not hand over lost runs; retrying", { error }));
    }, LOST_EVERY_MS);
    timer.unref();
  };

  return {
    ...engine,
    ready: async () => (await engine.ready()) && (server?.isRegistered() ?? true),
    async handle(request) {
      if (server !== undefined) return server.handle(request);
      if (getServices().env.inngest === undefined) return new Response("Not found", { status: 404 });
      // The server repeats the call, which another process may answer.
      return new Response("This process executes no runs: let INNGEST_SERVE_ORIGIN lead to one that does.", {
        status: 503,
      });
    },
    execute() {
      const services = getServices();
      const { inngest } = services.env;
      if (inngest === undefined) {
        engine.start(createEmbeddedDriver(engine));
        // The deployment may have used an Inngest server before.
        seekLostRuns(services, async () => {
          if ((await releaseLostRuns(services)) > 0) engine.wake();
        });
      } else {
        server = createServerDriver(services, engine, inngest);
        const { driver } = server;
        engine.start(driver);
        seekLostRuns(services, async () => driver.handOver(await findLostRuns(services)));
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
