import { randomUUID } from "node:crypto";
import { z } from "zod";
import { authorizeCaller } from "@/server/api/authorize";
import { type ApiRequest, type ApiResponse, boundBodyBytes } from "@/server/api/http/api-request";
import { errorResponse, JSON_HEADERS } from "@/server/api/http/respond";
import { countCall } from "@/server/api/rest";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import type { JsonObject } from "@/server/base/json/json";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { EVENT_STREAM_HEADERS } from "@/server/runs/live/event-stream";
import type { Services } from "@/server/services";
import { cancelNamedCall, nameCall } from "./cancel-call";
import type { Exchange } from "./exchange";
import { MAX_MESSAGE_BYTES, type Message, readMessage } from "./message";
import { passOn, Unread } from "./unread";

/**
 * `/mcp`: agents and tools as tools of the Model Context Protocol, over streamable HTTP, in its revision 2026-07-28
 * and those of 2025. Each request is answered alone: nothing of one key is left for another.
 */

const NEEDS = { scope: "runs:start", alsoNeeds: ["runs:read"] } as const;

export async function respondToMcp(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  const headers: Record<string, string> = { "X-Request-Id": requestId };
  try {
    checkTarget(services, request);
    const confirm = () => authorizeCaller(services, { key: keyOf(request), request }, NEEDS);
    const actor = await confirm();
    Object.assign(headers, await countCall(services, actor, "reads"));
    const bytes = boundBodyBytes(request, MAX_MESSAGE_BYTES);
    const { memory, release } = await holdBody(services, actor.orgId, { bytes, from: request });
    try {
      const message = await readMessage(request, memory);
      const caller = { services, actor: await confirm(), requestId, confirm, release };
      const response = await answer(caller, { request, message, headers });
      return { ...response, orgId: actor.orgId };
    } catch (error) {
      release();
      throw error;
    }
  } catch (error) {
    const response = errorResponse(error, request, { requestId, services, headers });
    if (response.status === 401) response.headers["WWW-Authenticate"] = "Bearer";
    return response;
  }
}

// Pages of other sites must not use a browser that reaches the service.
function checkTarget({ env }: Services, { path, method, header }: ApiRequest): void {
  if (path !== "/mcp") throw new AppError("not_found", "There is no such endpoint.");
  if (method !== "POST")
    throw new AppError("method_not_allowed", "Send messages with POST.", { headers: { Allow: "POST" } });
  const origin = header("origin");
  if (origin === null || origin === new URL(env.appUrl).origin) return;
  throw new AppError("forbidden", "The header Origin names another site.");
}

function keyOf({ header }: ApiRequest): string {
  const key = /^Bearer +(\S+)$/i.exec(header("authorization") ?? "")?.[1] ?? header("x-api-key");
  if (key !== null && key !== undefined) return key;
  throw new AppError("unauthenticated", "The header Authorization: Bearer with an API key is missing.");
}

const traced = z.object({ params: z.object({ _meta: z.object({ traceparent: z.string() }) }) });

// The protocol passes traces on in messages; a header of the connection may be a gateway's.
function traceParentOf(body: JsonObject): string | undefined {
  return traced.safeParse(body).data?.params._meta.traceparent;
}

/** The memory of a body until its `release`, which may be after the response has started. */
function holdBody(
  { memory }: Services,
  organizationId: string,
  body: { bytes: number; from: ApiRequest },
): Promise<{ memory: StepMemory; release: () => void }> {
  return new Promise((resolve, reject) => {
    const hold = (held: StepMemory) =>
      new Promise<void>((release) => resolve({ memory: held, release: () => release() }));
    memory.answer(organizationId, body, hold).catch(reject);
  });
}

async function answer(
  caller: Pick<Exchange, "services" | "actor" | "requestId" | "confirm" | "release">,
  { request, message, headers }: { request: ApiRequest; message: Message; headers: Record<string, string> },
): Promise<ApiResponse> {
  const { services, actor, release } = caller;
  const session = request.header("mcp-session-id");
  let { input } = message;
  const { body, method, id, hash } = message;
  if (session !== null && method === "notifications/cancelled")
    await cancelNamedCall(services, actor, { session, message: body });
  const [gone, over] = [new AbortController(), new AbortController()];
  // The connection's signal outlives the exchange, and the protocol's package leaves its listeners.
  const leave = () => gone.abort();
  request.signal.addEventListener("abort", leave, { once: true });
  if (request.signal.aborted) leave();
  const exchange: Exchange = {
    ...caller,
    header: (name) => (name === "traceparent" && traceParentOf(body)) || request.header(name),
    gone: gone.signal,
    over: over.signal,
    callKey: session === null || id === null ? null : nameCall(actor, session, id),
    messageHash: hash,
    takeInput() {
      const taken = input;
      input = {};
      return taken;
    },
    unread: new Unread(),
  };
  const onOver = () => {
    request.signal.removeEventListener("abort", leave);
    release();
    over.abort();
  };
  try {
    // The protocol's package takes 7 MB: processes without such clients do not load it.
    const { handle } = await import("./server");
    const response = await handle(exchange, { request: toWebRequest(services, request, gone.signal), body });
    // The 2025 revisions name the calls of one client by a session; it is not stored.
    if (method === "initialize" && response.ok) headers["Mcp-Session-Id"] = randomUUID();
    return await toApiResponse(response, { headers, unread: exchange.unread, onOver });
  } catch (error) {
    onOver();
    throw error;
  }
}

// Without the key: the protocol's package must not see it.
function toWebRequest({ env }: Services, request: ApiRequest, signal: AbortSignal): Request {
  const headers = [...request.headers()].filter(([name]) => /^(accept|content-type|mcp-.*)$/.test(name));
  return new Request(new URL("/mcp", env.appUrl), { method: "POST", headers, signal });
}

async function toApiResponse(
  { status, headers: given, body }: Response,
  { headers, unread, onOver }: { headers: Record<string, string>; unread: Unread; onOver: () => void },
): Promise<ApiResponse> {
  const type = given.get("content-type");
  if (body !== null && type?.startsWith("text/event-stream")) {
    const events = passOn(body, { unread, onOver });
    return { status, headers: { ...EVENT_STREAM_HEADERS, ...headers }, body: "", events };
  }
  onOver();
  const text = body === null ? "" : await new Response(body).text();
  const { "Content-Type": json, ...others } = JSON_HEADERS;
  return {
    status,
    headers: { ...others, ...(text !== "" && { "Content-Type": json }), ...headers },
    body: text,
  };
}
