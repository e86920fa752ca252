import { subscribe } from "node:diagnostics_channel";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { PEER_ADDRESS_HEADER } from "@/server/api/client-address";
import { InvalidTargetError, peerAddress, targetOf } from "@/server/api/node-http";
import { PAGE_ADDRESS_HEADER } from "@/server/api/page-address";
import { dataHeaders, pageHeaders } from "@/server/api/protective-headers";
import { captureConsole, captureFaults } from "@/server/log";
import { getServices, type Wired } from "@/wiring";
import { prepare } from "./serve-prepare";
import { type Answering, handlerOf, logRequest, preparePage, refuseBadHttp } from "./serve-requests";

/**
 * The process under `next start`, for platforms that expect a plain Next application: Next's server in front, its route
 * handlers as the doors to the API, the engine started from instrumentation.ts.
 */

/** How long runs, and after them requests, may take when the process is to end. */
const GRACE_MS = 5_000;
const ROUTE_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Starts what serve.ts starts, but the server. Does nothing where serve.ts has started it. Throws as `serve` does. */
export async function serveWithNext(): Promise<void> {
  if (globalThis.stepwellServices !== undefined) return;
  const services = getServices();
  captureConsole(services.log);
  captureFaults(services.log);
  prepareRequests(services);
  await prepare(services, process.cwd(), (line) => services.log.info(line));
  services.notifications.open();
  if (services.env.role !== "web") services.engine.execute();
  stopBeforeNext(services);
}

/**
 * Prepares each request before Next's server sees it, as serve-requests.ts does. Next would redirect `//v1`, answer a malformed
 * escape by a page, and tell nobody the address of the peer.
 */
function prepareRequests(services: Wired): void {
  const { origin, protocol } = new URL(services.env.appUrl);
  const headers = { page: pageHeaders(protocol === "https:"), data: dataHeaders(protocol === "https:") };
  const servers = new WeakSet<Server>();
  subscribe("http.server.request.start", (message) => {
    if (!isStart(message)) return;
    const { request: incoming, response: outgoing, server } = message;
    if (!servers.has(server)) {
      servers.add(server);
      refuseBadHttp(server);
      // Next hangs up on clients that offer HTTP/2 by an upgrade; without a listener they are answered in HTTP/1.1.
      server.removeAllListeners("upgrade");
    }
    const request = { incoming, outgoing, path: incoming.url ?? "/", startedAt: performance.now() };
    prepareRequest(services, request, { origin, headers });
  });
}

function prepareRequest(
  { log }: Wired,
  request: Answering,
  { origin, headers }: { origin: string; headers: Record<"page" | "data", Record<string, string>> },
): void {
  const { incoming, outgoing } = request;
  const url = readTarget(incoming, origin);
  request.path = url.pathname;
  outgoing.once("close", () => {
    const requestId = outgoing.getHeader("x-request-id");
    logRequest(log, request, outgoing.statusCode, requestId === undefined ? undefined : String(requestId));
  });
  const handler = handlerOf(url.pathname);
  if (handler === "pages") {
    preparePage(request, { url, headers: headers.page, dev: false });
    return;
  }
  for (const [name, value] of Object.entries(headers.data)) outgoing.setHeader(name, value);
  incoming.headers[PEER_ADDRESS_HEADER] = peerAddress(incoming);
  incoming.headers[PAGE_ADDRESS_HEADER] = url.pathname;
  // Next fails on methods that its routes cannot have; no operation of the API has this one either.
  if (!ROUTE_METHODS.includes(incoming.method ?? "")) incoming.method = "OPTIONS";
  // The route takes the path from the header: what Next may normalize is not in its own address any more.
  if (handler === "rest") incoming.url = "/v1";
  if (handler === "webhook") incoming.url = "/webhooks";
}

/** A target that is no path is shown as a page that does not exist. */
function readTarget(incoming: IncomingMessage, origin: string): URL {
  try {
    return targetOf(incoming, origin);
  } catch (error) {
    if (!(error instanceof InvalidTargetError)) throw error;
    incoming.url = "/_";
    return new URL(origin);
  }
}

type Start = { request: IncomingMessage; response: ServerResponse; server: Server };

function isStart(message: unknown): message is Start {
  if (typeof message !== "object" || message === null) return false;
  const { request, response, server }: Partial<Record<string, unknown>> = { ...message };
  return request instanceof IncomingMessage && response instanceof ServerResponse && server instanceof Server;
}

/** Lets the engine stop before Next does: Next's own listeners close its server and end the process. */
function stopBeforeNext(services: Wired): void {
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const listeners = process.listeners(signal);
    process.removeAllListeners(signal);
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void services.engine.stop(GRACE_MS).finally(() => {
        // Next waits for live streams, which have no end of their own.
        setTimeout(() => process.exit(0), GRACE_MS);
        for (const listener of listeners) listener(signal);
      });
    });
  }
}
