import { callTRPCProcedure, TRPCError } from "@trpc/server";
import { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { decodeText, parseBodyText, requireJson } from "@/server/base/json/body";
import { type Json, writeJson } from "@/server/base/json/json";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { ENDED_STATUSES } from "@/server/contract/enums";
import { queueDashboardCall } from "@/server/guard/limits/dashboard-queue";
import { acquireList } from "@/server/guard/limits/list-rate";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { type RateDecision, rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireRead } from "@/server/guard/limits/read-lease";
import { hashRequest, parseIdempotencyKey } from "@/server/runs/idempotency";
import { rejectStart } from "@/server/runs/start";
import type { Services } from "@/server/services";
import { type Endpoint, hasEntityTag, type KeyContext } from "./endpoint";
import { type ApiRequest, type ApiResponse, boundBodyBytes, respondToWebRequest } from "./http/api-request";
import { answerIfChanged, tagBody } from "./http/entity-tag";
import { errorResponse, jsonResponse, toAppError } from "./http/respond";
import { createRouteFinder, type Route } from "./route";
import type { Reply } from "./trpc";
import { ENDPOINTS, v1Router } from "./v1/endpoints";
import { METADATA_PARAMETER } from "./v1/filters";
import { addToReply, startConditions } from "./v1/start";
import { authorizeOptions, optionHeadersOf, readStartOptions } from "./v1/start-headers";

/**
 * The order of checks is that of docs/contract.md: no body is read before the caller is known, and a rate limit or
 * repetition answers before an issue of the body.
 */

const findRoute = createRouteFinder(ENDPOINTS);

export async function respondToRest(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  const reply: Reply = { headers: {} };
  try {
    const body = await answer(services, request, { requestId, reply });
    const response = jsonResponse(body, requestId, reply.headers);
    if (reply.events !== undefined) return { ...response, body: "", events: reply.events };
    const { ETag: etag } = reply.headers;
    return etag === undefined ? response : answerIfChanged(response, etag, request.header("if-none-match"));
  } catch (error) {
    return errorResponse(error, request, { requestId, services, headers: reply.headers });
  }
}

/** Answers a Web Request under `/v1`, for Next's route handler. */
export function handleRest(services: Services, request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToRest(services, call));
}

type Params = Record<string, string>;
type Call = { route: Route; params: Params; context: KeyContext & { reply: Reply } };

async function answer(
  services: Services,
  request: ApiRequest,
  { requestId, reply }: { requestId: string; reply: Reply },
): Promise<object | string> {
  const { route, params } = findRoute(request);
  const { endpoint } = route;
  const key = request.header("x-api-key");
  const confirm = async () => {
    const caller = await authenticateKey(services, key);
    authorize(caller, endpoint, params);
    return caller;
  };
  const actor = await confirm();
  const open = { confirm, onGone: request.onGone, header: request.header };
  const call = { route, params, context: { services, actor, requestId, reply, call: open } };
  if (endpoint.limit === "starts") return start(request, call);
  Object.assign(reply.headers, await countCall(services, actor, endpoint.limit));
  const { maxBytes = 0 } = endpoint.body ?? {};
  const bytes = maxBytes && boundBodyBytes(request, maxBytes);
  const respond = () =>
    services.memory.answer(actor.orgId, bytes, async (memory) => {
      const body = endpoint.body && (await request.readBody(maxBytes));
      const input = await readInput(request, { endpoint, params, body, memory });
      const view = await callProcedure({ ...call, context: { ...call.context, memory } }, input);
      return reply.events === undefined ? tagView(call, view) : "";
    });
  return endpoint.limit === "lists" ? inTurn(services, request, { orgId: actor.orgId, respond }) : respond();
}

/** Lists wait in the queue of the dashboard's calls, whose statements they share. */
async function inTurn<Answer>(
  services: Services,
  request: ApiRequest,
  { orgId, respond }: { orgId: ApiKeyActor["orgId"]; respond: () => Promise<Answer> },
): Promise<Answer> {
  const left = new AbortController();
  const forget = request.onGone(() => left.abort());
  return queueDashboardCall(services, orgId, { work: respond, signal: left.signal }).finally(forget);
}

/** Adds the entity tag of a view. The body of an ended run is kept for polls. */
function tagView({ route, context: { services, actor, reply } }: Call, view: object): string {
  const { endpoint, procedure } = route;
  const body = writeJson(view);
  if (!hasEntityTag(endpoint)) return body;
  const { kind } = endpoint;
  const isFinal =
    kind === undefined || ("status" in view && ENDED_STATUSES.some((each) => each === view.status));
  const tagged = tagBody(body, { kind, isFinal });
  reply.headers.ETag = tagged.etag;
  const ended =
    kind !== undefined && isFinal && "id" in view ? services.endedRuns.get(String(view.id)) : undefined;
  if (ended?.orgId === actor.orgId) services.endedRuns.cacheBody(ended, procedure, tagged);
  return body;
}

/** A rejected call still counts; a rate limit or repetition takes precedence over its issue. */
async function start(request: ApiRequest, call: Call): Promise<object | string> {
  const { services, actor } = call.context;
  authorizeOptions(actor, request.header);
  const bytes = boundBodyBytes(request, call.route.endpoint.body?.maxBytes ?? 0);
  return services.memory.answer(actor.orgId, bytes, (memory) => startWithin(request, call, memory));
}

async function startWithin(request: ApiRequest, call: Call, memory: StepMemory): Promise<object | string> {
  const { params, context } = call;
  const { endpoint } = call.route;
  const { services, actor, reply } = context;
  const reject = async (error: unknown): Promise<string> => {
    const conditions = startConditions(context, actor, endpoint.kind ?? "agent");
    addToReply(reply, await rejectStart(services, actor, { error, conditions }));
    return reply.text ?? "";
  };
  let input: object;
  try {
    const body = endpoint.body && (await request.readBody(endpoint.body.maxBytes));
    const key = parseIdempotencyKey(request.header("idempotency-key"));
    if (key !== null) {
      const options = optionHeadersOf(request.header);
      const bytes = body ?? Buffer.alloc(0);
      const requestHash = hashRequest(request.method, request.path, bytes, ...options);
      context.repetition = { key, requestHash };
    }
    context.options = readStartOptions(request.header, services.env);
    input = await readInput(request, { endpoint, params, body, memory });
  } catch (error) {
    return reject(error);
  }
  try {
    const started = await callProcedure(call, input);
    return reply.text ?? started;
  } catch (error) {
    // The procedure counts what it rejects itself.
    if (isInvalidInput(error)) return reject(toAppError(error));
    throw error;
  }
}

function authorize(actor: ApiKeyActor, { scope, alsoNeeds = scope, kind }: Endpoint, params: Params): void {
  if (!actor.plan.apiAccess) {
    throw new AppError("api_access_disabled", "API access is not enabled on the organization's plan.");
  }
  const missing = [scope, alsoNeeds].find((each) => !actor.scopes.includes(each));
  if (missing !== undefined) {
    throw new AppError("forbidden", `The API key ${actor.name} lacks the scope ${missing}.`);
  }
  // The path of a start or an estimate names the target; other endpoints look it up (runs/read/read-run.ts).
  const target = params[`${kind}Id`]?.toLowerCase();
  if (target !== undefined && actor.targetIds.length > 0 && !actor.targetIds.includes(target)) {
    throw new AppError("forbidden", `The API key ${actor.name} may not start this ${kind}.`);
  }
  if (actor.suspended) throw new AppError("organization_suspended", "The organization is suspended.");
}

async function countCall(
  services: Pick<Services, "clock" | "pool">,
  actor: ApiKeyActor,
  name: "reads" | "lists",
): Promise<Record<string, string>> {
  const acquire = name === "lists" ? acquireList : acquireRead;
  const decision: RateDecision | null = await acquire(services, actor);
  if (decision === null) return {};
  if (!decision.allowed) throw rateLimited(name, decision);
  return rateLimitHeaders(name, decision);
}

async function readInput(
  request: ApiRequest,
  {
    endpoint,
    params,
    body,
    memory,
  }: { endpoint: Endpoint; params: Params; body: Buffer | undefined; memory?: StepMemory | undefined },
): Promise<object> {
  const input = { ...params, ...readQuery(request.query, endpoint) };
  return body === undefined
    ? input
    : { ...input, body: await parseBody(request, endpoint, { body, memory }) };
}

/**
 * Parameters such as `metadata.customer` become a JSON object, the declared `metadata.KEY`. Throws `invalid_request` for
 * an unknown or repeated parameter.
 */
function readQuery(text: string, { query, ignoresUnknownQuery }: Endpoint): Params {
  const found: Params = {};
  const pairs: Params = {};
  if (text === "" || (query.length === 0 && ignoresUnknownQuery)) return found;
  for (const [name, value] of new URLSearchParams(text)) {
    const isPair = name.startsWith(PAIR_PREFIX) && query.includes(METADATA_PARAMETER);
    const isKnown = isPair || query.includes(name);
    if (!isKnown && ignoresUnknownQuery) continue;
    const known = query.length === 0 ? "It takes none." : `It takes ${query.join(", ")}.`;
    const issue = isKnown
      ? name in found || name in pairs
        ? "is given twice."
        : null
      : `is unknown. ${known}`;
    if (issue !== null) {
      throw new AppError("invalid_request", `The query parameter ${name.slice(0, 100)} ${issue}`);
    }
    if (isPair) pairs[name] = value;
    else found[name] = value;
  }
  const metadata = Object.entries(pairs).map(([name, value]) => [name.slice(PAIR_PREFIX.length), value]);
  return metadata.length === 0
    ? found
    : { ...found, [METADATA_PARAMETER]: JSON.stringify(Object.fromEntries(metadata)) };
}

const PAIR_PREFIX = METADATA_PARAMETER.replace("KEY", "");

async function parseBody(
  request: ApiRequest,
  endpoint: Endpoint,
  { body, memory }: { body: Buffer; memory: StepMemory | undefined },
): Promise<Json> {
  if (body.length === 0 && endpoint.body?.optional) return {};
  requireJson(request.header("content-type"));
  const text = decodeText(body);
  await memory?.holdText(text);
  return parseBodyText(text);
}

async function callProcedure({ route, context: ctx }: Call, input: object): Promise<object> {
  return callTRPCProcedure({
    router: v1Router,
    path: route.procedure,
    type: route.endpoint.method === "GET" ? "query" : "mutation",
    ctx,
    getRawInput: async () => input,
    signal: undefined,
    batchIndex: 0,
  });
}

function isInvalidInput(error: unknown): boolean {
  return error instanceof TRPCError && error.cause instanceof z.ZodError && error.code === "BAD_REQUEST";
}
