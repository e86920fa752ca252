import { AsyncLocalStorage } from "node:async_hooks";
import { format } from "node:util";
import { Inngest, Middleware, NonRetriableError, RetryAfterError } from "inngest";
import { serve } from "inngest/edge";
import type { Logger } from "@/server/base/log";
import type { RunKind } from "@/server/contract/enums";
import { checkInngestServer, readInngestServer } from "@/server/operate/inngest-server";
import { releaseLostRuns } from "@/server/operate/lost-runs";
import type { Admitted } from "@/server/runs/engine/claim";
import type { Driver } from "@/server/runs/engine/dispatcher";
import type { RunEngine } from "@/server/runs/engine/engine";
import { releaseHandedOver } from "@/server/runs/engine/run-state";
import type { SegmentResult } from "@/server/runs/engine/slots/slot";
import type { Services } from "@/server/services";
import { createRunHandler, RUN_EVENTS, readRunEvent } from "./functions";
import { NamedSteps, ServerCall } from "./named-steps";
import { stayRegistered } from "./registration";

const CANCELLED = "run/cancelled";

/** Afterwards `onFailure` takes the run back. */
const RETRIES = 4;
/** The delay before the repeated call of a run that still executes. */
const BUSY_RETRY = "15s";
const CANCELLED_WITHIN_MS = 30_000;

/** Steps are sent together, because only the server's pages need them. A call ends before the SDK's time limit. */
const CHECKPOINTING = { bufferedSteps: 50, maxInterval: "2s", maxRuntime: 0 };

export type ServerDriver = ReturnType<typeof createServerDriver>;

class CountSteps extends Middleware.BaseMiddleware {
  readonly id = "count-steps";

  override transformFunctionInput(args: Middleware.TransformFunctionInputArgs) {
    return { ...args, ctx: { ...args.ctx, remembered: Object.keys(args.steps).length } };
  }
}

/**
 * Executes runs on an Inngest server, configured by INNGEST_*. It calls back at `/api/inngest`, signed unless it is
 * a dev server.
 */
export function createServerDriver(
  services: Services,
  engine: Pick<RunEngine, "callSegment" | "wake">,
  settings: NonNullable<Services["env"]["inngest"]>,
) {
  const { isDev, baseUrl, eventKey, signingKey } = readInngestServer(settings);
  const { serveOrigin } = settings;
  const log = services.log.child({ component: "inngest", server: baseUrl });
  const calls = new AsyncLocalStorage<ServerCall>();
  const request: typeof fetch = async (...given) => {
    const call = calls.getStore() ?? new ServerCall();
    call.hasLostServer = true;
    try {
      const response = await fetch(...given);
      call.hasLostServer = !response.ok;
      return response;
    } catch (error) {
      registration.renew();
      throw error;
    }
  };
  const client = new Inngest({
    id: "stepwell",
    isDev,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(eventKey === undefined ? {} : { eventKey }),
    ...(signingKey === undefined ? {} : { signingKey }),
    fetch: request,
    middleware: [CountSteps],
    logger: quietly(log),
    internalLogger: quietly(log),
  });

  const handler = createRunHandler((call, steps) => engine.callSegment(call, steps));
  const createRunFunction = (kind: RunKind) =>
    client.createFunction(
      {
        id: `${kind}-run`,
        name: kind === "agent" ? "Agent run" : "Tool run",
        retries: RETRIES,
        triggers: [{ event: RUN_EVENTS[kind] }],
        cancelOn: [{ event: CANCELLED, if: "async.data.runId == event.data.runId" }],
        checkpointing: CHECKPOINTING,
        onFailure: async ({ event }) => {
          const { runId, handOver = 0 } = readRunEvent(event.data.event.data);
          // Without effect if the run has ended, executes or was handed over again.
          if ((await releaseHandedOver(services, [{ id: runId, handOver }])) > 0) engine.wake();
        },
      },
      async ({ event, step, remembered }) => {
        const call = calls.getStore();
        if (call === undefined) throw new Error("the function was called without a request");
        const steps = new NamedSteps(step, { call, before: remembered });
        const executing = handler({ event, step: steps });
        call.executing = executing.catch(() => {});
        return report(await executing, steps);
      },
    );
  const handle = serve({
    client,
    functions: [createRunFunction("agent"), createRunFunction("tool")],
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
  const registration = stayRegistered(register, {
    log,
    // It may have lost what it was to call.
    onRecovered: () => void takeBack(services, engine, log),
  });
  const driver: Extract<Driver, { kind: "server" }> = {
    kind: "server",
    async handOver(runs) {
      const toEvent = ({ id, kind, handOver }: Admitted) => ({
        id: `${id}:${handOver}`,
        name: RUN_EVENTS[kind],
        data: { runId: id, handOver },
      });
      await client.send(runs.map(toEvent));
    },
    async cancel(runId) {
      try {
        await client.send({ id: `${runId}:${CANCELLED}`, name: CANCELLED, data: { runId } });
      } catch (error) {
        log.debug("Could not tell the Inngest server of a cancelled run", { runId, error });
      }
    },
  };
  return {
    driver,
    async handle(request: Request): Promise<Response> {
      if (isUnsignedSync(request)) return answerSync(registration.isRegistered());
      const call = new ServerCall();
      const response = await calls.run(call, () => handle(withKnownParameters(request)));
      await call.end();
      return response;
    },
    isRegistered: registration.isRegistered,
    stop: registration.stop,
  };
}

/**
 * True for a registration that the SDK would send for anybody; it checks the signature only of the kind `in_band`. This
 * process registers its functions itself.
 */
function isUnsignedSync({ method, headers }: Request): boolean {
  return method === "PUT" && headers.get("X-Inngest-Sync-Kind") !== "in_band";
}

function answerSync(isRegistered: boolean): Response {
  const message = isRegistered ? "The functions are registered." : "The functions are not registered yet.";
  return Response.json({ message, modified: false }, { status: isRegistered ? 200 : 503 });
}

// Others would change what the SDK does, or become part of the addresses that it registers.
function withKnownParameters(request: Request): Request {
  const url = new URL(request.url);
  for (const name of new Set(url.searchParams.keys())) {
    if (name !== "fnId" && name !== "stepId") url.searchParams.delete(name);
  }
  return new Request(url, request);
}

async function takeBack(
  services: Pick<Services, "clock" | "pool">,
  engine: Pick<RunEngine, "wake">,
  log: Logger,
): Promise<void> {
  try {
    if ((await releaseLostRuns(services, { afterMs: 0 })) > 0) engine.wake();
  } catch (error) {
    log.warn("Could not hand runs over again; they continue within 30 s", { error });
  }
}

/** For the server's pages: the end of the run, or why this function no longer executes it. */
async function report(result: SegmentResult, steps: NamedSteps): Promise<object> {
  if (result.kind === "busy") throw new RetryAfterError("The run executes for an earlier call.", BUSY_RETRY);
  if (result.kind !== "ended") return { status: result.kind };
  const { status, message } = result.end;
  if (status === "Completed") return { status };
  if (status === "Failed") throw new NonRetriableError(message ?? "The run failed.");
  const text = `Cancelled by ${message ?? "a user"}`;
  // By then, the event has cancelled the function.
  await steps.sleepUntil({ id: "cancelled", name: text }, new Date(Date.now() + CANCELLED_WITHIN_MS));
  throw new NonRetriableError(text);
}

function quietly(log: Logger) {
  const write = (...values: unknown[]) => log.debug(format(...values));
  return { debug: write, info: write, warn: write, error: write };
}
