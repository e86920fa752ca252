import { Inngest } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "@/server/log";
import type { Driver, RunEngine } from "@/server/runs/engine/engine";
import type { Services } from "@/server/services";
import { createRunFunctions, RUN_EVENTS } from "./functions";

/** How often the functions are registered: until the server has them, and from then on, since it may lose them. */
const REGISTER_EVERY_MS = { missing: 5_000, registered: 60_000 };

export type ServerDriver = {
  driver: Driver;
  /** Why the server cannot be used; null when it can. */
  problem(): Promise<string | null>;
  /** Answers the server's calls at /api/inngest. */
  handle(request: Request): Promise<Response>;
  stop(): void;
};

type Settings = NonNullable<Services["env"]["inngest"]>;

/**
 * Executes runs on an Inngest server, chosen by the INNGEST_* variables (dev server, self-hosted or cloud). It calls back at
 * `/api/inngest`, signed unless it is a dev server. The functions are registered at start and now and then: a server that was
 * restarted may not know them, and would drop events.
 */
export function createServerDriver(
  services: Services,
  engine: RunEngine,
  settings: Settings,
  registerEveryMs = REGISTER_EVERY_MS,
): ServerDriver {
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
  const functions = createRunFunctions(client, engine, "server");
  const handle = serve({
    client,
    functions: Object.values(functions),
    serveOrigin: env.appUrl,
    servePath: "/api/inngest",
  });
  const register = async (): Promise<unknown> => {
    try {
      // Without `host` the SDK's handler cannot read the address it was called under.
      const headers = { host: new URL(env.appUrl).host };
      const response = await handle(new Request(`${env.appUrl}/api/inngest`, { method: "PUT", headers }));
      return response.ok ? null : await response.text();
    } catch (error) {
      return error;
    }
  };
  const registration = keepRegistered(register, log, registerEveryMs);
  let sendProblem: unknown = null;
  return {
    driver: {
      kind: "server",
      async handOver(runs) {
        if (runs.length === 0) return;
        try {
          await client.send(
            runs.map((run) => ({
              id: run.eventId,
              name: RUN_EVENTS[run.kind],
              data: { runId: run.id, segment: run.segment },
            })),
          );
          sendProblem = null;
        } catch (error) {
          sendProblem = error;
          throw error;
        }
      },
    },
    async problem() {
      const cause = registration.problem() ?? sendProblem;
      return cause === null ? null : describeProblem(cause, baseUrl);
    },
    handle: (request) => handle(request),
    stop: () => registration.stop(),
  };
}

/** What is wrong with the server's settings, in words that name the variable. */
function describeProblem(cause: unknown, baseUrl: string | undefined): string {
  const text = cause instanceof Error ? `${cause.message} ${String(cause.cause ?? "")}` : String(cause);
  const address = baseUrl ?? "Inngest Cloud";
  if (/event key|INNGEST_EVENT_KEY/i.test(text)) return `The server at ${address} refuses INNGEST_EVENT_KEY.`;
  if (/signing key|signature|unauthorized|401/i.test(text))
    return `The server at ${address} refuses INNGEST_SIGNING_KEY.`;
  return `The Inngest server at ${address} cannot be reached: ${text.trim().slice(0, 200)}`;
}

/** Registers at once and from then on, and logs when it begins to fail and when it works again. */
function keepRegistered(
  register: () => Promise<unknown>,
  log: Logger,
  everyMs: typeof REGISTER_EVERY_MS,
): { problem(): unknown; stop(): void } {
  let problem: unknown = "the functions are not registered yet";
  let registered: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const go = async (): Promise<void> => {
    const error = await register();
    const before = registered;
    registered = error === null;
    problem = error;
    if (registered && before !== true) log.info("The Inngest server has the functions");
    if (!registered && before !== false)
      log.warn("The Inngest server does not take the functions; runs wait", { error });
    if (stopped) return;
    timer = setTimeout(() => void go(), everyMs[registered ? "registered" : "missing"]);
    timer.unref();
  };
  void go();
  return {
    problem: () => problem,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
