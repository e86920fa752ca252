import { format } from "node:util";
import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "@/server/log";
import { checkInngestServer, readInngestServer } from "@/server/operate/inngest-server";
import type { Driver } from "@/server/runs/engine/dispatcher";
import type { RunEngine } from "@/server/runs/engine/engine";
import type { Services } from "@/server/services";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/**
 * How often the functions are registered, until the server has them and afterwards: a restarted server may have lost
 * them.
 */
const REGISTER_EVERY_MS = { missing: 5_000, registered: 60_000 };

/** A segment is one iteration, so that the server's pages show the loop and no request takes long. */
const ACTS_PER_CALL = 2;

export type ServerDriver = ReturnType<typeof createServerDriver>;

/**
 * Executes runs on an Inngest server (dev server, self-hosted or cloud), configured by INNGEST_*. It calls back at
 * `/api/inngest`, signed unless it is a dev server. The functions are registered at start and repeatedly: a restarted
 * server would drop events for unknown functions.
 */
export function createServerDriver(
  services: Services,
  engine: Pick<RunEngine, "callSegment">,
  settings: NonNullable<Services["env"]["inngest"]>,
) {
  const { isDev, baseUrl, eventKey, signingKey } = readInngestServer(settings);
  const { serveOrigin } = settings;
  const log = services.log.child({ component: "inngest", server: baseUrl });
  const client = new Inngest({
    id: "stepwell",
    isDev,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(eventKey === undefined ? {} : { eventKey }),
    ...(signingKey === undefined ? {} : { signingKey }),
    internalLogger: quietly(log),
  });
  const functions = createRunFunctions(client, (runId) => engine.callSegment(runId, { acts: ACTS_PER_CALL }));
  const handle = serve({
    client,
    functions: Object.values(functions),
    serveOrigin,
    servePath: "/api/inngest",
  });
  const register = async (): Promise<unknown> => {
    try {
      // Without `host` the SDK's handler cannot determine its own URL.
      const headers = { host: new URL(serveOrigin).host };
      const response = await handle(new Request(`${serveOrigin}/api/inngest`, { method: "PUT", headers }));
      if (response.ok) return null;
      const { texts } = await checkInngestServer(settings);
      return texts.length > 0 ? texts.join(" ") : await response.text();
    } catch (error) {
      return error;
    }
  };
  const driver: Extract<Driver, { kind: "server" }> = {
    kind: "server",
    async handOver(runs) {
      if (runs.length === 0) return;
      await client.send(
        runs.map((run) => ({
          id: run.eventId,
          name: RUN_EVENTS[run.kind],
          data: { runId: run.id, segment: run.segment },
        })),
      );
    },
  };
  return {
    driver,
    /** Handles the server's calls at /api/inngest. */
    handle: (request: Request): Promise<Response> => handle(request),
    ...stayRegistered(register, log),
  };
}

/** Passes the SDK's log on at debug level: failures are logged here or by the engine. */
function quietly(log: Logger) {
  const write = (...values: unknown[]) => log.debug(format(...values));
  return { debug: write, info: write, warn: write, error: write };
}

/** Registers immediately and then repeatedly. Logs when registration starts to fail and when it recovers. */
function stayRegistered(register: () => Promise<unknown>, log: Logger) {
  let registered: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const go = async (): Promise<void> => {
    const error = await register();
    const before = registered;
    registered = error === null;
    if (registered && before !== true) log.info("Registered the functions with the Inngest server");
    if (!registered && before !== false)
      log.warn("Could not register the functions with the Inngest server; runs wait", { error });
    if (stopped) return;
    timer = setTimeout(() => void go(), REGISTER_EVERY_MS[registered ? "registered" : "missing"]);
    timer.unref();
  };
  void go();
  return {
    /** Whether the server has the functions. */
    isRegistered: () => registered === true,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
