import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Wired } from "@/process-services";
import { respondToEngineCall } from "@/server/api/engine-call";
import {
  type ApiResponse,
  drainRequest,
  fromNode,
  PAGE_ADDRESS_HEADER,
  sendToNode,
} from "@/server/api/http/api-request";
import { createProxyWarning, PEER_ADDRESS_HEADER } from "@/server/api/http/client-address";
import {
  cutStalledReader,
  errorBodyOfStatus,
  InvalidTargetError,
  peerAddress,
  rejectTunnel,
  respondToBadHttp,
  STALLED_READER_MS,
  STALLED_STREAM_MS,
  targetOf,
} from "@/server/api/http/node-http";
import { dataHeaders, pageHeaders, pagePolicy } from "@/server/api/http/protective-headers";
import { ALIVE, loggedPath, normalizePath, readinessResponse } from "@/server/api/http/respond";
import { respondToMcp } from "@/server/api/mcp/mcp";
import { respondToMetrics } from "@/server/api/metrics";
import { respondToPoll } from "@/server/api/poll";
import { respondToRest } from "@/server/api/rest";
import { respondToWebhook } from "@/server/api/webhook";
import { newId } from "@/server/base/ids";
import type { Logger } from "@/server/base/log";
import type { Metrics, RouteClass } from "@/server/base/metrics/metrics";
import { JSON_CONTENT } from "@/server/contract/media-types";
import { KIB } from "@/server/contract/sizes";
import { isWebhookPath } from "@/server/contract/webhook";
import { boundRequests } from "./bound-requests";
import { reduceHeaders, rejectionOf } from "./page-request";
import { createSender } from "./send-answer";

/** Answers `/v1`, `/webhooks` and health; Next answers everything else. */

/** Enough for a body of 1 MiB through a slow line; slower senders are cut off. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Longer than common load balancers, so that they close first. */
const KEEP_ALIVE_MS = 75_000;

/** Target and headers (docs/decisions/0033-requests-for-pages.md). Beyond it the response is 431. */
const MAX_HEAD_BYTES = 12 * KIB;

type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Creates a server's request listener. Without `showPage` there are no pages: the process only executes runs. */
export function createHandler(
  services: Wired,
  { showPage, dev, state }: { showPage: Handler | null; dev: boolean; state: { stopping: boolean } },
) {
  const { origin, protocol } = new URL(services.env.appUrl);
  const asPage = pageHeaders(protocol === "https:");
  const asData = dataHeaders(protocol === "https:");
  const rawHeaders = Object.entries(asData).flat();
  const warnOfProxy = createProxyWarning(services);

  const sendAnswer = createSender(services, rawHeaders);
  let ready: { request: PendingRequest; response: ApiResponse }[] = [];
  /** Logs ids, status and duration, but no content. */
  const sendReady = (): void => {
    const responses = ready;
    ready = [];
    for (const each of responses) each.response = sendAnswer(each.request, each.response);
    for (const { request, response } of responses) {
      if (request.incoming.method !== "GET") drainRequest(request.incoming);
      recordRequest(services, {
        request,
        status: response.status,
        requestId: response.headers["X-Request-Id"],
      });
    }
  };
  /**
   * Waits for the end of this turn of the event loop: waking a reader takes longer than answering a poll, and
   * responses written together wake it once.
   */
  const send = (request: PendingRequest, response: ApiResponse): void => {
    if (ready.push({ request, response }) === 1) setImmediate(sendReady);
  };

  const answer = async (request: PendingRequest): Promise<void> => {
    const { incoming, outgoing, path } = request;
    warnOfProxy(incoming);
    if (lacksHost(incoming)) throw new InvalidTargetError("The header Host is missing.");
    const handler = handlerOf(path);
    request.route = handler;
    if (handler === "rest") return send(request, await respondToRest(services, fromNode(incoming, path)));
    if (handler === "mcp") return send(request, await respondToMcp(services, fromNode(incoming, path)));
    if (handler === "webhook")
      return send(request, await respondToWebhook(services, fromNode(incoming, path)));
    if (handler === "inngest") {
      return send(
        request,
        await respondToEngineCall(services, fromNode(incoming, path), targetOf(incoming, origin)),
      );
    }
    if (handler === "metrics")
      return void sendToNode(
        outgoing,
        await respondToMetrics(services, fromNode(incoming, path)),
        rawHeaders,
      );
    if (handler === "health") return void sendToNode(outgoing, ALIVE, rawHeaders);
    if (handler === "ready")
      return void sendToNode(outgoing, await readinessResponse(services, state), rawHeaders);
    if (showPage === null) return reject(outgoing, 404, { headers: asData });
    outgoing.once("close", () => recordRequest(services, { request, status: outgoing.statusCode }));
    const url = targetOf(incoming, origin);
    const rejection = rejectionOf(incoming, url, { dev });
    if (rejection !== null) return reject(outgoing, rejection, { headers: asData });
    preparePage(request, { url, headers: { page: asPage, data: asData }, dev });
    await showPage(incoming, outgoing);
  };

  const handle = async (request: PendingRequest, poll: Promise<ApiResponse | null> | null): Promise<void> => {
    const { incoming, outgoing } = request;
    try {
      // The complete path answers what memory cannot, and reports errors.
      const polled = await poll?.catch(() => null);
      if (polled) return send(request, polled);
      request.path = targetOf(incoming, origin).pathname;
      await answer(request);
    } catch (error) {
      const status = error instanceof InvalidTargetError ? 400 : 500;
      const requestId = newId();
      if (status === 500) services.log.error("A request failed", { requestId, error });
      if (outgoing.headersSent) return void outgoing.destroy();
      reject(outgoing, status, { headers: asData, requestId });
      recordRequest(services, { request, status, requestId });
    }
  };

  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (state.stopping) outgoing.setHeader("Connection", "close");
    const request = pendingRequest(incoming, outgoing);
    const isPoll = incoming.method === "GET" && !lacksHost(incoming);
    const poll = isPoll ? respondToPoll(services, request.path, incoming.headers) : null;
    if (poll !== null) request.route = "rest";
    if (poll === null || poll instanceof Promise) void handle(request, poll);
    else send(request, poll);
  };
}

const lacksHost = ({ httpVersion, headers }: IncomingMessage) =>
  httpVersion === "1.1" && headers.host === undefined;

/**
 * Rejects invalid HTTP, long heads, tunnels and unknown expectations with the contract's error body. Bounds slow
 * requests and bursts. The server must have its request listeners.
 */
export function rejectBadHttp(server: Server): void {
  boundRequests(server);
  // Each connection takes its limit from the server. Node declares it as an option of the constructor only.
  Object.assign(server, { maxHeaderSize: MAX_HEAD_BYTES });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on("clientError", respondToBadHttp);
  server.on("connect", rejectTunnel);
  server.on("checkExpectation", (_incoming: IncomingMessage, outgoing: ServerResponse) =>
    reject(outgoing, 417),
  );
}

const PAGE_FILES = "/_next/static/";
type PageHeaders = Record<"page" | "data", Record<string, string>>;

/** Removes what Next must not get, and adds what it does not: security headers, the page's own URL, the peer's address. */
export function preparePage(
  { incoming, outgoing, path }: PendingRequest,
  { url, headers, dev }: { url: URL; headers: PageHeaders; dev: boolean },
): void {
  reduceHeaders(incoming);
  // Without a fragment, which could hide parameters from `rejectionOf`.
  incoming.url = url.pathname + url.search;
  cutStalledReader(outgoing, path.startsWith("/api/live/") ? STALLED_STREAM_MS : STALLED_READER_MS);
  const policy = pagePolicy({ dev });
  // A page loads twenty scripts: the long headers of a page would outweigh some of them.
  const added = path.startsWith(PAGE_FILES)
    ? headers.data
    : { ...headers.page, "Content-Security-Policy": policy };
  for (const [name, value] of Object.entries(added)) outgoing.setHeader(name, value);
  incoming.headers["content-security-policy"] = policy;
  incoming.headers[PAGE_ADDRESS_HEADER] = incoming.url;
  incoming.headers[PEER_ADDRESS_HEADER] = peerAddress(incoming);
}

/** A request in progress; `startedAt` is in ms of the process's monotonic clock. */
export type PendingRequest = {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  path: string;
  route: Route;
  startedAt: number;
};

type Route = RouteClass | "health" | "ready" | "metrics";

/** A request whose handler is not known yet. */
export function pendingRequest(incoming: IncomingMessage, outgoing: ServerResponse): PendingRequest {
  return { incoming, outgoing, path: incoming.url ?? "/", route: "pages", startedAt: performance.now() };
}

/** Counts a request and logs one line, without query and payload. Files of pages are neither counted nor logged. */
export function recordRequest(
  { log, metrics }: { log: Logger; metrics: Metrics },
  { request, status, requestId }: { request: PendingRequest; status: number; requestId?: string | undefined },
): void {
  const { incoming, path, route, startedAt } = request;
  if (path.startsWith("/_next/")) return;
  const durationMs = performance.now() - startedAt;
  if (route !== "health" && route !== "ready" && route !== "metrics")
    metrics.countRequest(route, { status, durationMs });
  log.request({
    requestId,
    method: incoming.method ?? "",
    path: loggedPath(path),
    status,
    durationMs: Math.round(durationMs * 10) / 10,
  });
}

function reject(
  outgoing: ServerResponse,
  status: 400 | 404 | 405 | 417 | 431 | 500,
  { headers = {}, requestId = newId() }: { headers?: Record<string, string>; requestId?: string } = {},
): void {
  const body = errorBodyOfStatus(status, requestId);
  const allowed = status === 405 ? { Allow: "GET, HEAD" } : {};
  outgoing.writeHead(status, {
    ...headers,
    ...allowed,
    "Content-Type": JSON_CONTENT,
    "X-Request-Id": requestId,
  });
  outgoing.end(body);
}

/**
 * The handler for a path. A path that differs from the API's only by case, escapes or slashes gets the API's 404, never
 * a page.
 */
export function handlerOf(path: string): Route {
  const normalized = normalizePath(path);
  if (normalized === "/v1" || normalized.startsWith("/v1/")) return "rest";
  if (normalized === "/mcp" || normalized.startsWith("/mcp/")) return "mcp";
  if (isWebhookPath(normalized)) return "webhook";
  if (path === "/api/inngest") return "inngest";
  if (path === "/api/health") return "health";
  if (path === "/api/metrics") return "metrics";
  return path === "/api/ready" ? "ready" : "pages";
}
