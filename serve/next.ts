import { subscribe } from "node:diagnostics_channel";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Wired } from "@/process-services";
import { PAGE_ADDRESS_HEADER } from "@/server/api/http/api-request";
import { createProxyWarning, PEER_ADDRESS_HEADER } from "@/server/api/http/client-address";
import { InvalidTargetError, peerAddress, targetOf } from "@/server/api/http/node-http";
import { dataHeaders, pageHeaders } from "@/server/api/http/protective-headers";
import { captureConsole, captureErrors } from "@/server/base/log";
import { sleep } from "@/server/base/sleep";
import { isSetUp } from "@/server/catalog/organization/set-up";
import { wireProcess } from "@/wiring";
import { connectionLimits, createConnectionBound, readOpenFiles } from "./connections";
import { serveMetrics } from "./metrics-port";
import { reduceApiHeaders, rejectionOf } from "./page-request";
import { prepareService, registerProcess } from "./prepare";
import {
  handlerOf,
  type PendingRequest,
  pendingRequest,
  preparePage,
  recordRequest,
  rejectBadHttp,
} from "./requests";
import { GRACE_MS, limitStop, STOP_MS, STOP_SIGNALS, stopOnSignals } from "./stop";

/** `next start`, for platforms that expect a plain Next application. instrumentation.ts starts the engine. */

/** Only Inngest's route reads the query. */
const NEXT_PATHS = {
  mcp: "/mcp",
  rest: "/v1",
  webhook: "/webhooks",
  inngest: "/api/inngest",
  health: "/api/health",
  metrics: "/api/metrics",
  ready: "/api/ready",
};
/** Rejected requests get a page that does not exist. */
const NO_PAGE = "/_";
const ROUTE_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Starts what serve.ts starts, except the server. Does nothing if serve.ts has started it. Throws like `serve`. */
export async function serveWithNext(): Promise<void> {
  if (globalThis.stepwellServices !== undefined) return;
  const services = wireProcess();
  captureConsole(services.log);
  captureErrors(services.log);
  prepareRequests(services);
  for (const text of services.env.unknownSettings) services.log.warn(text);
  await prepareService(services, process.cwd(), (line) => services.log.info(line));
  // Everything that is printed goes to the log, which is no place for a link.
  if (!(await isSetUp(services)))
    services.log.warn(
      "No organization exists yet. `npm run -s stepwell -- doctor` prints a link that creates the first one.",
    );
  services.notifications.open();
  await serveMetrics(services);
  if (services.env.role === "web") registerProcess(services);
  else await services.engine.execute();
  stopBeforeNext(services);
}

/** Otherwise Next redirects `//v1`, answers a malformed escape with a page, and hides the peer's address. */
function prepareRequests(services: Wired): void {
  const { origin, protocol } = new URL(services.env.appUrl);
  const headers = { page: pageHeaders(protocol === "https:"), data: dataHeaders(protocol === "https:") };
  const warnOfProxy = createProxyWarning(services);
  const servers = new WeakSet<Server>();
  const boundConnections = createConnectionBound(services, connectionLimits(readOpenFiles(), services.env));
  subscribe("net.server.socket", (message) => {
    if (isConnection(message)) boundConnections(message.socket);
  });
  subscribe("http.server.request.start", (message) => {
    if (!isStart(message)) return;
    const { request: incoming, response: outgoing, server } = message;
    warnOfProxy(incoming);
    if (!servers.has(server)) {
      servers.add(server);
      rejectBadHttp(server);
      // Next closes connections that offer HTTP/2 by an upgrade; without a listener they are answered in HTTP/1.1.
      server.removeAllListeners("upgrade");
    }
    const request = pendingRequest(incoming, outgoing);
    prepareRequest(services, request, { origin, headers });
  });
}

function prepareRequest(
  services: Wired,
  request: PendingRequest,
  { origin, headers }: { origin: string; headers: Record<"page" | "data", Record<string, string>> },
): void {
  const { incoming, outgoing } = request;
  const url = readTarget(incoming, origin);
  request.path = url.pathname;
  outgoing.once("close", () => {
    const requestId = outgoing.getHeader("x-request-id");
    recordRequest(services, {
      request,
      status: outgoing.statusCode,
      requestId: requestId === undefined ? undefined : String(requestId),
    });
  });
  const handler = handlerOf(url.pathname);
  request.route = handler;
  const isRejected = rejectionOf(incoming, url, { dev: false }) !== null;
  if (handler === "pages") {
    if (isRejected) incoming.method = "GET";
    preparePage(request, { url: isRejected ? new URL(NO_PAGE, origin) : url, headers, dev: false });
    return;
  }
  reduceApiHeaders(incoming);
  for (const [name, value] of Object.entries(headers.data)) outgoing.setHeader(name, value);
  incoming.headers[PEER_ADDRESS_HEADER] = peerAddress(incoming);
  incoming.headers[PAGE_ADDRESS_HEADER] = url.pathname + url.search;
  // Next fails on methods that its routes cannot have. No API operation has this one.
  if (!ROUTE_METHODS.includes(incoming.method ?? "")) incoming.method = "OPTIONS";
  // The route reads path and query from the header: Next normalizes them, and parses a query in more than linear time.
  incoming.url = NEXT_PATHS[handler] + (handler === "inngest" && !isRejected ? url.search : "");
}

function readTarget(incoming: IncomingMessage, origin: string): URL {
  try {
    return targetOf(incoming, origin);
  } catch (error) {
    if (!(error instanceof InvalidTargetError)) throw error;
    return new URL(NO_PAGE, origin);
  }
}

function isConnection(message: unknown): message is { socket: Socket } {
  return (
    typeof message === "object" && message !== null && "socket" in message && message.socket instanceof Socket
  );
}

type Start = { request: IncomingMessage; response: ServerResponse; server: Server };

function isStart(message: unknown): message is Start {
  if (typeof message !== "object" || message === null) return false;
  const { request, response, server }: Partial<Record<string, unknown>> = { ...message };
  return request instanceof IncomingMessage && response instanceof ServerResponse && server instanceof Server;
}

/** Next's own listeners close its server and exit. */
function stopBeforeNext(services: Wired): void {
  const listeners = new Map(STOP_SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  for (const signal of listeners.keys()) process.removeAllListeners(signal);
  stopOnSignals({
    async stop(signal) {
      limitStop(services.log, STOP_MS);
      services.endWaiters.close();
      await services.engine.stop(GRACE_MS);
      for (const listener of listeners.get(signal) ?? []) listener(signal);
      // Next waits for live streams, which do not end by themselves.
      await sleep(GRACE_MS);
    },
  });
}
