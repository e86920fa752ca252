import { callTRPCProcedure } from "@trpc/server";
import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { decodeText, parseBodyText, requireJson } from "@/server/base/json/body";
import type { Json } from "@/server/base/json/json";
import { authenticateKey } from "@/server/catalog/auth/authenticate-key";
import { ENDED_STATUSES } from "@/server/contract/enums";
import { MAX_BODY_BYTES, MAX_START_AGENT_BODY_BYTES } from "@/server/contract/sizes";
import { type RateDecision, rateLimited, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireRead } from "@/server/guard/limits/read-lease";
import { hashRequest, parseIdempotencyKey } from "@/server/runs/idempotency";
import { refuseStart, type StartResult } from "@/server/runs/start";
import type { StartConditions } from "@/server/runs/start-item";
import type { Services } from "@/server/services";
import { type ApiRequest, type ApiResponse, respondToWebRequest } from "./http/api-request";
import { errorResponse, jsonResponse, toAppError } from "./http/respond";
import { kindOfProcedure, OPERATIONS } from "./operations";
import type { ApiContext } from "./trpc";
import { startedResponse, v1Router } from "./v1";

/**
 * The handler of `/v1`. Paths and methods come from the procedures' OpenAPI metadata. The order of checks is that of
 * docs/contract.md. No body is read before the caller is known. A rate limit or repetition answers before a fault of
 * the body.
 */

type Route = (typeof routes)[number];

/** Each operation has one path parameter. */
const routes = Object.entries(OPERATIONS).map(([procedure, { openapi }]) => {
  const { method, path, scope, limit } = openapi;
  const [before, parameter = "", after] = path.split(/[{}]/);
  const pattern = new RegExp(`^${before}([^/]+)${after}$`);
  return { procedure, kind: kindOfProcedure(procedure), method, scope, limit, parameter, pattern };
});

export async function respondToRest(services: Services, request: ApiRequest): Promise<ApiResponse> {
  const requestId = newId();
  const headers: Record<string, string> = {};
  try {
    return await answer(services, request, { requestId, headers });
  } catch (error) {
    return errorResponse(error, request, { requestId, log: services.log, headers });
  }
}

/** Answers a Web Request under `/v1`, for Next's route handler. */
export function handleRest(services: Services, request: Request): Promise<Response> {
  return respondToWebRequest(request, (call) => respondToRest(services, call));
}

async function answer(
  services: Services,
  request: ApiRequest,
  { requestId, headers }: { requestId: string; headers: Record<string, string> },
): Promise<ApiResponse> {
  const { route, id } = findRoute(request);
  const actor = await authenticateKey(services, request.header("x-api-key"));
  const path = { [route.parameter]: id };
  authorize(actor, route, id);
  const context = { services, actor, requestId };
  if (route.limit === "reads") {
    Object.assign(headers, await countRead(services, actor));
    const type = route.method === "GET" ? "query" : "mutation";
    const view = await callProcedure(route.procedure, { type, ctx: context, input: path });
    return jsonResponse(cacheForPolls(services, actor, { route, view }), requestId, headers);
  }
  const { result, body } = await start(request, { route, actor, context, path });
  if (result.rate) Object.assign(headers, rateLimitHeaders("starts", result.rate));
  if (result.replay === null) return jsonResponse(body ?? {}, requestId, headers);
  return jsonResponse(result.replay, requestId, { ...headers, "Idempotent-Replayed": "true" });
}

/** The body of a view; an ended run's body is cached for polls. */
function cacheForPolls(
  services: Services,
  actor: ApiKeyActor,
  { route, view }: { route: Route; view: object },
): string {
  const body = JSON.stringify(view);
  const isFinal = "status" in view && ENDED_STATUSES.some((each) => each === view.status);
  if (!isFinal || route.method !== "GET" || !("id" in view) || typeof view.id !== "string") return body;
  const ended = services.endedRuns.get(view.id);
  if (ended?.orgId !== actor.orgId) return body;
  return services.endedRuns.cacheBody(ended, route.procedure, body);
}

type Start = { route: Route; actor: ApiKeyActor; context: ApiContext; path: Record<string, string> };

/**
 * Starts a run. A call refused before the start still counts, and a rate limit or repetition takes precedence over its
 * fault.
 */
async function start(
  request: ApiRequest,
  { route, actor, context, path }: Start,
): Promise<{ result: StartResult; body?: object }> {
  const { services } = context;
  const { kind } = route;
  const isTool = kind === "tool";
  const { startsPerMinute } = actor.plan;
  const conditions: StartConditions = {};
  if (startsPerMinute !== null) {
    const key = `starts:${actor.apiKeyId}`;
    conditions.limit = { name: "starts", key, limit: startsPerMinute, seconds: 60 };
  }
  let started: Promise<StartResult> | undefined;
  try {
    const raw = await request.readBody(isTool ? MAX_BODY_BYTES : MAX_START_AGENT_BODY_BYTES);
    const key = parseIdempotencyKey(request.header("idempotency-key"));
    if (key !== null) {
      conditions.idempotency = {
        scope: "start",
        key,
        requestHash: hashRequest(request.method, request.path, raw),
        answer: (runId: string) => startedResponse(kind, runId),
      };
    }
    const input = { ...path, body: await parseBody(raw, request.header("content-type"), isTool) };
    const onStart = (start: Promise<StartResult>) => {
      started = start;
    };
    const body = await callProcedure(route.procedure, {
      type: "mutation",
      ctx: { ...context, conditions, onStart },
      input,
    });
    if (started === undefined) throw new Error("the procedure started nothing");
    return { result: await started, body };
  } catch (error) {
    if (started !== undefined) throw error;
    return { result: await refuseStart(services, actor, { error, conditions }) };
  }
}

function findRoute(request: ApiRequest): { route: Route; id: string } {
  const matching = routes.flatMap((route) => {
    const match = route.pattern.exec(request.path);
    return match === null ? [] : [{ route, id: decodeSegment(match[1] ?? "") }];
  });
  if (matching.length === 0) throw new AppError("not_found", "There is nothing at this path.");
  const found = matching.find(({ route }) => route.method === request.method);
  if (found !== undefined) return found;
  const allow = matching.map(({ route }) => route.method).join(", ");
  throw new AppError("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
}

/** A malformed percent escape is kept, and then refused as a malformed id. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Throws unless the plan and the key's scopes and targets allow the operation and the organization is not suspended. */
function authorize(actor: ApiKeyActor, route: Route, id: string): void {
  if (!actor.plan.apiAccess) {
    throw new AppError("api_access_disabled", "API access is not enabled on the organization's plan.");
  }
  if (!actor.scopes.includes(route.scope)) {
    throw new AppError("forbidden", `The API key ${actor.name} lacks the scope ${route.scope}.`);
  }
  // The path of a start names the target; other operations look it up (runs/read/read-run.ts).
  const isLimited = route.limit === "starts" && actor.targetIds.length > 0;
  if (isLimited && !actor.targetIds.includes(id.toLowerCase())) {
    throw new AppError("forbidden", `The API key ${actor.name} may not start this ${route.kind}.`);
  }
  if (actor.suspended) throw new AppError("organization_suspended", "The organization is suspended.");
}

async function countRead(services: Services, actor: ApiKeyActor): Promise<Record<string, string>> {
  const decision: RateDecision | null = await acquireRead(services, actor);
  if (decision === null) return {};
  if (!decision.allowed) throw rateLimited("reads", decision);
  return rateLimitHeaders("reads", decision);
}

/** A tool may be started without a body; its input is then `{}`. */
async function parseBody(raw: Buffer, contentType: string | null, isTool: boolean): Promise<Json> {
  if (raw.length === 0 && isTool) return {};
  requireJson(contentType);
  return parseBodyText(decodeText(raw));
}

/** Calls a procedure by its path. The procedure parses its input. Throws AppError. */
async function callProcedure(
  path: string,
  { type, ctx, input }: { type: "query" | "mutation"; ctx: ApiContext; input: object },
): Promise<object> {
  const getRawInput = async () => input;
  try {
    return await callTRPCProcedure({
      router: v1Router,
      path,
      type,
      ctx,
      getRawInput,
      signal: undefined,
      batchIndex: 0,
    });
  } catch (error) {
    throw toAppError(error);
  }
}
