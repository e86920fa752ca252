import { callTRPCProcedure, TRPCError } from "@trpc/server";
import { z } from "zod";
import type { ApiKeyActor, OrgId } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { writeJson } from "@/server/base/json/json";
import { ENDED_STATUSES } from "@/server/contract/enums";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { acquireQueued } from "@/server/guard/limits/list-rate";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { type RateDecision, rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireRead } from "@/server/guard/limits/read-lease";
import { hashRequest, parseIdempotencyKey } from "@/server/runs/idempotency";
import { rejectStart } from "@/server/runs/start";
import type { StartOptions } from "@/server/runs/start-options";
import type { Services } from "@/server/services";
import { authorizeCaller } from "./authorize";
import type { Sent } from "./endpoint";
import { type ApiRequest, type ApiResponse, boundBodyBytes, respondToWebRequest } from "./http/api-request";
import { answerIfChanged, tagBody, tagDefinition } from "./http/entity-tag";
import { emptyResponse, errorResponse, jsonResponse, toAppError } from "./http/respond";
import { readInput } from "./read-input";
import { createRouteFinder, type Route } from "./route";
import type { ApiCall } from "./trpc";
import { ENDPOINTS, v1Router } from "./v1/endpoints";
import { startConditions, startReply } from "./v1/start";
import { authorizeOptions, optionHeadersOf, readStartOptions } from "./v1/start-headers";

/**
 * The order of checks is that of docs/contract.md: no body is read before the caller is known, and a rate limit or
 * repetition answers before an issue of the body.
 */

const findRoute = createRouteFinder(ENDPOINTS);

// A view is sent only if it has changed.
type Answer = {
  body: object | string;
  isView?: boolean;
  events?: ReadableStream<Uint8Array> | null | undefined;
  orgId?: OrgId;
};

export async function respondToRest(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  // An error that comes after the call was counted has them, too.
  const headers: Record<string, string> = {};
  try {
    const { body, isView, events, orgId } = await answer(services, request, { requestId, headers });
    if (events === null) return emptyResponse(requestId, headers);
    const response = jsonResponse(body, requestId, headers);
    response.orgId = orgId;
    if (events !== undefined) return { ...response, events };
    const { ETag: etag } = headers;
    if (etag === undefined || !isView) return response;
    return answerIfChanged(response, etag, request.header("if-none-match"));
  } catch (error) {
    return errorResponse(error, request, { requestId, services, headers });
  }
}

/** Answers a Web Request under `/v1`, for Next's route handler. */
export function handleRest(services: Services, request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToRest(services, call));
}

type Params = Record<string, string>;
type Call = {
  request: ApiRequest;
  route: Route;
  params: Params;
  headers: Record<string, string>;
  services: Services;
  actor: ApiKeyActor;
  /** Repeats the checks of the caller, whose key may have changed during a wait. */
  authorize(): Promise<ApiKeyActor>;
  requestId: string;
};

async function answer(
  services: Services,
  request: ApiRequest,
  { requestId, headers }: Pick<Call, "requestId" | "headers">,
): Promise<Answer> {
  const { route, params } = findRoute(request);
  const { scope, alsoNeeds, kind, limit } = route.endpoint;
  const needs = { scope, alsoNeeds, kind, params };
  const authorize = () => authorizeCaller(services, { key: request.header("x-api-key"), request }, needs);
  const actor = await authorize();
  const call: Call = { request, route, params, headers, services, actor, authorize, requestId };
  const answered = await (limit === "starts" ? start(call) : serve(call, limit));
  answered.orgId = actor.orgId;
  return answered;
}

async function serve(call: Call, limit: "reads" | "lists" | "changes"): Promise<Answer> {
  const { request, route, params, headers, services, actor } = call;
  const { endpoint } = route;
  Object.assign(headers, await countCall(services, actor, limit));
  const { maxBytes = 0 } = endpoint.body ?? {};
  const bytes = maxBytes && boundBodyBytes(request, maxBytes);
  return services.memory.answer(actor.orgId, { bytes, from: request }, async (memory) => {
    const body = endpoint.body && (await request.readBody(maxBytes));
    const work = async (): Promise<Answer> => {
      const confirmed = { ...call, actor: await call.authorize() };
      const input = await readInput(request, { endpoint, params, body, memory });
      const { body: view, sent } = await callProcedure(confirmed, { input, memory });
      Object.assign(headers, sent?.headers);
      const { events } = sent ?? {};
      if (events !== undefined) return { body: "", events };
      return { body: sent?.text ?? renderView(confirmed, view), isView: endpoint.answers === "view" };
    };
    if (limit === "reads") return work();
    // Lists and changes share the statements of the dashboard's calls. A body that does not come has no turn.
    return queueDashboardCall(services, actor.orgId, { work, signal: request.signal });
  });
}

// Adds the entity tag of a view that has none. The body of an ended run is kept for polls.
function renderView({ route, services, actor, headers }: Call, view: object): string {
  const { endpoint, procedure } = route;
  const body = writeJson(view);
  const isTagged = endpoint.answers === "view" || endpoint.answers === "saved";
  if (!isTagged || headers.ETag !== undefined) return body;
  const { kind, state } = endpoint;
  if (state !== undefined) {
    headers.ETag = tagDefinition(view, state);
    return body;
  }
  const isFinal =
    kind === undefined || ("status" in view && ENDED_STATUSES.some((each) => each === view.status));
  const tagged = tagBody(body, { kind, isFinal });
  headers.ETag = tagged.etag;
  const ended =
    kind !== undefined && isFinal && "id" in view ? services.endedRuns.get(String(view.id)) : undefined;
  if (ended?.orgId === actor.orgId) services.endedRuns.cacheBody(ended, procedure, tagged);
  return body;
}

// A rejected call still counts; a rate limit or repetition takes precedence over its issue.
async function start(call: Call): Promise<Answer> {
  const { request, route, services, actor } = call;
  authorizeOptions(actor, request.header);
  const { maxBytes = 0 } = route.endpoint.body ?? {};
  const bytes = boundBodyBytes(request, maxBytes);
  return services.memory.answer(actor.orgId, { bytes, from: request }, async (memory) => {
    const reading = route.endpoint.body && request.readBody(maxBytes);
    await Promise.allSettled([reading]);
    const confirmed = { ...call, actor: await call.authorize() };
    authorizeOptions(confirmed.actor, request.header);
    return startWithin(confirmed, { reading, memory });
  });
}

async function startWithin(
  call: Call,
  { reading, memory }: { reading: Promise<Buffer> | undefined; memory: StepMemory },
): Promise<Answer> {
  const { request, route, params, services, actor, headers } = call;
  const { endpoint } = route;
  const { kind = "agent" } = endpoint;
  let repetition: ApiCall["repetition"];
  let options: StartOptions | undefined;
  const send = ({ body, sent }: { body: object; sent?: Sent | undefined }): Answer => {
    Object.assign(headers, sent?.headers);
    return { body: sent?.text ?? body };
  };
  const reject = async (error: unknown): Promise<Answer> => {
    const conditions = startConditions(actor, kind, repetition);
    return send(startReply(kind, await rejectStart(services, actor, { error, conditions })));
  };
  let input: object;
  try {
    const body = await reading;
    repetition = readRepetition(call, body);
    options = readStartOptions(request.header, services.env);
    input = await readInput(request, { endpoint, params, body, memory });
  } catch (error) {
    return reject(error);
  }
  try {
    return send(await callProcedure(call, { input, memory, repetition, options }));
  } catch (error) {
    // The procedure counts what it rejects itself.
    if (isInvalidInput(error)) return reject(toAppError(error));
    throw error;
  }
}

// An id has several spellings in a path.
function readRepetition(
  { request: { header }, route, params }: Call,
  body: Buffer = Buffer.alloc(0),
): ApiCall["repetition"] {
  const key = parseIdempotencyKey(header("idempotency-key"));
  if (key === null) return undefined;
  const ids = Object.values(params).map((id) => id.toLowerCase());
  return { key, requestHash: hashRequest(route.procedure, ...ids, body, ...optionHeadersOf(header)) };
}

/** Counts a read or list of a key; returns the headers of its limit. Throws `rate_limited`. */
export async function countCall(
  services: Pick<Services, "clock" | "pool">,
  actor: ApiKeyActor,
  name: "reads" | "lists" | "changes",
): Promise<Record<string, string>> {
  const decision: RateDecision | null =
    name === "reads" ? await acquireRead(services, actor) : await acquireQueued(services, actor, name);
  if (decision === null) return {};
  if (!decision.allowed) throw rateLimited(name, decision);
  return rateLimitHeaders(name, decision);
}

type Given = { input: object } & Pick<ApiCall, "memory" | "repetition" | "options">;

async function callProcedure(
  { request, route, services, actor, requestId }: Call,
  { input, ...given }: Given,
): Promise<{ body: object; sent?: Sent }> {
  const call: ApiCall = {
    ...given,
    key: request.header("x-api-key"),
    headers: headersOf(request, route.endpoint.headers),
    get signal() {
      return request.signal;
    },
  };
  return callTRPCProcedure({
    router: v1Router,
    path: route.procedure,
    type: route.endpoint.method === "GET" ? "query" : "mutation",
    ctx: { services, actor, requestId, call },
    getRawInput: async () => input,
    signal: undefined,
    batchIndex: 0,
  });
}

const NO_HEADERS: Params = {};

function headersOf({ header }: ApiRequest, names: readonly string[]): Params {
  if (names.length === 0) return NO_HEADERS;
  const found: Params = {};
  for (const name of names) {
    const value = header(name.toLowerCase());
    if (value !== null) found[name] = value;
  }
  return found;
}

function isInvalidInput(error: unknown): boolean {
  return error instanceof TRPCError && error.cause instanceof z.ZodError && error.code === "BAD_REQUEST";
}
