import { callTRPCProcedure } from "@trpc/server";
import type { ApiKeyActor } from "@/server/auth/actor";
import { authenticateKey } from "@/server/auth/authenticate-key";
import { AppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { decodeText, parseBodyText, requireJson } from "@/server/json-body";
import { rateLimited, rateLimitHeaders, takeFromWindow } from "@/server/limits/rate-window";
import { readBody } from "@/server/limits/read-body";
import { MAX_BODY_BYTES, MAX_START_AGENT_BODY_BYTES } from "@/server/limits/sizes";
import {
  hashRequest,
  type IdempotentRequest,
  onceOnly,
  parseIdempotencyKey,
} from "@/server/runs/idempotency";
import type { Services } from "@/server/services";
import { listOperations, type Operation } from "./operations";
import { errorResponse, jsonResponse, toAppError } from "./respond";
import type { ApiContext } from "./trpc";
import { startedAnswer, v1Router } from "./v1";

/**
 * The door of `/v1`: Request → Response. It takes paths and methods from the procedures' OpenAPI metadata
 * and keeps the order of checks of product.md ("Order of checks, 1–6"): nothing of a body is read before the
 * caller is known, nothing of it is parsed before it is known to be new.
 */

type Route = Operation & { pattern: RegExp };

const routes: Route[] = listOperations().map((operation) => ({
  ...operation,
  pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, "([^/]+)")}$`),
}));

/** Answers a request under `/v1`. Never throws. */
export async function handleRest(services: Services, request: Request): Promise<Response> {
  const requestId = newId();
  const headers: Record<string, string> = {};
  try {
    return await answer(services, request, requestId, headers);
  } catch (error) {
    return errorResponse(error, request, requestId, services.log, headers);
  }
}

async function answer(
  services: Services,
  request: Request,
  requestId: string,
  headers: Record<string, string>,
): Promise<Response> {
  const { route, values } = findRoute(request);
  const actor = await authenticateKey(services, request.headers.get("x-api-key"));
  // Each operation has one path parameter.
  const path = Object.fromEntries(
    Object.keys(route.parameters).map((name, index) => [name, values[index] ?? ""]),
  );
  authorize(actor, route, values);
  Object.assign(headers, await limitRate(services, actor, route.limit));
  const context = { services, actor, requestId };

  if (route.body === undefined) {
    const type = route.method === "GET" ? "query" : "mutation";
    return jsonResponse(await callProcedure(route.operationId, type, context, path), requestId, headers);
  }

  const isTool = route.tag === "Tools";
  const raw = await readBody(request, isTool ? MAX_BODY_BYTES : MAX_START_AGENT_BODY_BYTES);
  const start = async (idempotency?: IdempotentRequest) => {
    const body = parseBody(raw, request.headers.get("content-type"), isTool);
    return callProcedure(route.operationId, "mutation", { ...context, idempotency }, { ...path, body });
  };

  const key = parseIdempotencyKey(request.headers.get("idempotency-key"));
  if (key === null) return jsonResponse(await start(), requestId, headers);

  const { pathname } = new URL(request.url);
  const idempotency = {
    scope: "start",
    key,
    requestHash: hashRequest(request.method, pathname, raw),
    answer: (runId: string) => startedAnswer(isTool ? "tool" : "agent", runId),
  };
  const now = () => services.clock.now();
  const result = await onceOnly(services.pool, actor.orgId, idempotency, now, () => start(idempotency));
  if ("fresh" in result) return jsonResponse(result.fresh, requestId, headers);
  if (!result.kept.sameRequest) {
    throw new AppError("idempotency_conflict", "This Idempotency-Key was used with another request.");
  }
  return jsonResponse(result.kept.response, requestId, { ...headers, "Idempotent-Replayed": "true" });
}

function findRoute(request: Request): { route: Route; values: string[] } {
  const { pathname } = new URL(request.url);
  const matching = routes.flatMap((route) => {
    const match = route.pattern.exec(pathname);
    return match === null ? [] : [{ route, values: match.slice(1).map(decodeSegment) }];
  });
  if (matching.length === 0) throw new AppError("not_found", "There is nothing at this path.");
  const found = matching.find(({ route }) => route.method === request.method);
  if (found !== undefined) return found;
  const allow = matching.map(({ route }) => route.method).join(", ");
  throw new AppError("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
}

/** A malformed percent escape stays as it is: no id looks like it, so it is refused as a malformed id. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function authorize(actor: ApiKeyActor, { scope, limit, tag }: Route, [id = ""]: string[]): void {
  if (!actor.plan.apiAccess) {
    throw new AppError("api_access_disabled", "API access is not enabled on the organization's plan.");
  }
  if (!actor.scopes.includes(scope)) {
    throw new AppError("forbidden", `The API key ${actor.name} lacks the scope ${scope}.`);
  }
  // Of a start, the path names the target itself; what the other operations name is looked up first (runs/read.ts).
  const isLimited = limit === "starts" && actor.targetIds.length > 0;
  if (isLimited && !actor.targetIds.includes(id.toLowerCase())) {
    const target = tag === "Tools" ? "tool" : "agent";
    throw new AppError("forbidden", `The API key ${actor.name} may not start this ${target}.`);
  }
  if (actor.suspended) throw new AppError("organization_suspended", "The organization is suspended.");
}

async function limitRate(
  services: Services,
  actor: ApiKeyActor,
  name: "starts" | "reads",
): Promise<Record<string, string>> {
  const limit = name === "starts" ? actor.plan.startsPerMinute : actor.plan.readsPerMinute;
  if (limit === null) return {};
  const window = { key: `${name}:${actor.apiKeyId}`, limit, seconds: 60 };
  const decision = await takeFromWindow(services.pool, window, services.clock);
  if (!decision.allowed) throw rateLimited(name, decision);
  return rateLimitHeaders(name, decision);
}

/** Only a tool may be started with no body at all; its input is then `{}`. */
function parseBody(raw: Buffer, contentType: string | null, isTool: boolean) {
  if (raw.length === 0 && isTool) return {};
  requireJson(contentType);
  return parseBodyText(decodeText(raw));
}

/** Calls a procedure by its path; it parses its input with its own schema. Throws AppError. */
async function callProcedure(
  path: string,
  type: "query" | "mutation",
  ctx: ApiContext,
  input: object,
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
