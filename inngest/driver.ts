import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "@/server/log";
import type { WakeUp } from "@/server/runs/dispatch";
import type { Services } from "@/server/services";
import { createEmbeddedEngine } from "./embedded/engine";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/** What executes the durable functions: the embedded engine, or an Inngest server. */
export type Driver = {
  /** Hands runs over; the engine takes each event once. */
  wake(wakeUps: readonly WakeUp[]): Promise<void>;
  /** Whether this run of the engine is still under way there; null: it cannot tell. */
  knows(engineRunId: string): Promise<boolean | null>;
  ready(): Promise<boolean>;
  /** Whether this process executes as many runs as it may; true when only the server knows. */
  full(): boolean;
  /** How soon a run that is handed over begins while there are places: one that takes longer waits for one. */
  beginsWithinMs: number;
  stop(graceMs?: number): Promise<void>;
  /** Answers the Inngest server's calls; null on the embedded engine, which is never reached over HTTP. */
  handle: ((request: Request) => Promise<Response>) | null;
};

/** Runs that one process executes at a time. */
export const PLACES = 40;

/** How often the functions are registered: until the server took them, and from then on, since it may forget them. */
const REGISTER_EVERY_MS = { refused: 5_000, taken: 60_000 };

function wakeBy(client: Inngest): Driver["wake"] {
  return async (wakeUps) => {
    if (wakeUps.length === 0) return;
    await client.send(
      wakeUps.map(({ runId, kind, epoch, eventId }) => ({
        id: eventId,
        name: RUN_EVENTS[kind],
        data: { runId, epoch },
      })),
    );
  };
}

/** The embedded engine over the service's own PostgreSQL. */
export async function startEmbedded(services: Services): Promise<Driver> {
  const engine = createEmbeddedEngine({
    pool: services.pool,
    listenConfig: { connectionString: services.env.databaseUrl },
    clock: services.clock,
    log: services.log,
    concurrency: PLACES,
  });
  const client = new Inngest({
    id: "stepwell",
    fetch: engine.fetch,
    isDev: true,
    baseUrl: "http://engine.local",
    // No limit: there is no HTTP call here that could be cut off, and leaving a call costs a hand-over per 10 s.
    checkpointing: { maxRuntime: 0 },
  });
  await engine.register(client, createRunFunctions(client, services));
  await engine.start();
  return {
    wake: wakeBy(client),
    knows: (engineRunId) => engine.isRunning(engineRunId),
    ready: () => engine.ready(),
    full: () => engine.full(),
    beginsWithinMs: 250,
    stop: (graceMs) => engine.stop(graceMs),
    handle: null,
  };
}

/**
 * An Inngest server, chosen by the INNGEST_* variables (dev server, self-hosted or cloud). It calls back at
 * `/api/inngest`, signed unless it is a dev server; the functions are registered with it at start, again and again
 * until it takes them, and then now and again: one that was restarted may know them no more, and would take events for
 * nothing. Ready means that it took them once: starts are taken while it is away.
 */
export async function startOnServer(
  services: Services,
  settings: NonNullable<Services["env"]["inngest"]>,
  registerEveryMs = REGISTER_EVERY_MS,
): Promise<Driver> {
  const { env } = services;
  const log = services.log.child({ component: "inngest", server: settings.baseUrl ?? settings.dev });
  const isDev = settings.dev !== undefined && settings.dev !== "0" && settings.dev !== "false";
  const devUrl = isDev && /^https?:/.test(settings.dev ?? "") ? settings.dev : undefined;
  const baseUrl = settings.baseUrl ?? devUrl;
  const eventKey = settings.eventKey ?? (isDev ? "dev" : undefined);
  const client = new Inngest({
    id: "stepwell",
    isDev,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(eventKey === undefined ? {} : { eventKey }),
    ...(settings.signingKey === undefined ? {} : { signingKey: settings.signingKey }),
  });
  const handler = serve({
    client,
    functions: createRunFunctions(client, services),
    serveOrigin: env.appUrl,
    servePath: "/api/inngest",
  });
  /** Why the server does not have the functions; null: it does. */
  const register = async (): Promise<unknown> => {
    try {
      // Without `host` the SDK's handler cannot read the address it was called under.
      const headers = { host: new URL(env.appUrl).host };
      const response = await handler(new Request(`${env.appUrl}/api/inngest`, { method: "PUT", headers }));
      return response.ok ? null : await response.text();
    } catch (error) {
      return error;
    }
  };
  const registration = keepRegistered(register, log, registerEveryMs);
  return {
    wake: wakeBy(client),
    knows: async () => null,
    ready: async () => registration.everTaken(),
    full: () => true,
    beginsWithinMs: 5_000,
    async stop() {
      registration.stop();
    },
    handle: (request) => handler(request),
  };
}

/** Registers at once and from then on, and says when it begins to fail and when it works again. */
function keepRegistered(
  register: () => Promise<unknown>,
  log: Logger,
  everyMs: typeof REGISTER_EVERY_MS,
): { everTaken(): boolean; stop(): void } {
  let everTaken = false;
  let taken: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const go = async (): Promise<void> => {
    const error = await register();
    const before = taken;
    taken = error === null;
    everTaken ||= taken;
    if (taken && before !== true) log.info("the Inngest server has the functions");
    if (!taken && before !== false)
      log.warn("the Inngest server does not take the functions; runs wait until it does", { error });
    if (stopped) return;
    timer = setTimeout(() => void go(), everyMs[taken ? "taken" : "refused"]);
    timer.unref();
  };
  void go();
  return {
    everTaken: () => everTaken,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
