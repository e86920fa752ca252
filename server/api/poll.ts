import type { ApiKeyActor } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { peekKey } from "@/server/catalog/auth/authenticate-key";
import type { RunKind } from "@/server/contract/enums";
import { type RateDecision, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireLeasedRead, acquireRead } from "@/server/guard/limits/read-lease";
import { executingRunFacts } from "@/server/runs/engine/poll-facts";
import { agentRunStatus, toolRunStatus } from "@/server/runs/read/views";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/services";
import type { ApiResponse } from "./http/api-request";
import { JSON_HEADERS, jsonResponse } from "./http/respond";
import { ENDPOINTS } from "./v1/endpoints";

/**
 * Answers polls from memory if the key is cached, the read is leased, and the run ended lately or executes here.
 * Others take the complete path (rest.ts); a test compares both byte for byte.
 */

type View = { kind: RunKind; runId: string; procedure: string };

/**
 * Answers and counts a poll from memory; null if it cannot. The promise is for a key whose next reads must be
 * leased first.
 */
export function respondToPoll(
  services: Services,
  path: string,
  key: string | undefined,
): ApiResponse | Promise<ApiResponse | null> | null {
  const view = readPath(path);
  if (view === null || key === undefined) return null;
  const actor = peekKey(services, key);
  if (actor === undefined || !mayRead(actor)) return null;
  const body = bodyOf(services, actor, view);
  if (body === null) return null;
  const decision = acquireLeasedRead(services, actor);
  if (decision === "rejected") return null;
  return decision === "unleased" ? afterLease(services, actor, view) : pollOf(body, decision);
}

async function afterLease(services: Services, actor: ApiKeyActor, view: View): Promise<ApiResponse | null> {
  const decision = await acquireRead(services, actor);
  if (decision?.allowed === false) return null;
  const body = bodyOf(services, actor, view);
  return body === null ? null : pollOf(body, decision);
}

function pollOf(body: string, decision: RateDecision | null): ApiResponse {
  const requestId = newId();
  if (decision === null) return jsonResponse(body, requestId);
  const rate = rateLimitHeaders("reads", decision);
  // One literal: spreading three objects took a fifteenth of a poll's time.
  const headers = {
    "Content-Type": JSON_HEADERS["Content-Type"],
    "Cache-Control": JSON_HEADERS["Cache-Control"],
    "X-Request-Id": requestId,
    "RateLimit-Policy": rate["RateLimit-Policy"],
    RateLimit: rate.RateLimit,
  };
  return { status: 200, headers, body };
}

function mayRead({ plan, scopes, targetIds, suspended }: ApiKeyActor): boolean {
  // A key that is limited to some targets takes the complete path.
  return plan.apiAccess && !suspended && targetIds.length === 0 && scopes.includes("runs:read");
}

/** By their path without the id: `/v1/agents/run//status`. */
const VIEWS = new Map(
  Object.entries(ENDPOINTS).flatMap(([procedure, { method, path, kind }]) => {
    const isView = method === "GET" && kind !== undefined;
    return isView ? [[path.replace(/\{.*\}/, ""), { procedure, kind }] as const] : [];
  }),
);
const BEFORE_ID = "/run/";
const UUID_LENGTH = 36;

/** Reads the path without a regular expression, which is slower. */
function readPath(path: string): View | null {
  const start = path.indexOf(BEFORE_ID) + BEFORE_ID.length;
  const end = start + UUID_LENGTH;
  const view = VIEWS.get(path.slice(0, start) + path.slice(end));
  return view === undefined ? null : { ...view, runId: path.slice(start, end) };
}

function bodyOf(services: Services, actor: ApiKeyActor, { kind, runId, procedure }: View): string | null {
  const ended = services.endedRuns.get(runId);
  if (ended) {
    const targetId = kind === "agent" ? ended.run.agentId : ended.run.toolId;
    if (ended.orgId !== actor.orgId || targetId === null) return null;
    const known = ended.bodies.get(procedure);
    if (known !== undefined) return known;
    // Details and results need more than the run; the complete path caches their bodies.
    const body = statusBody(services, ended.run, procedure);
    return body === null ? null : services.endedRuns.cacheBody(ended, procedure, body);
  }
  const executing = services.engine.find(runId);
  if (!executing || executing.run.orgId !== actor.orgId || executing.run.kind !== kind) return null;
  return statusBody(services, executingRunFacts(executing), procedure);
}

function statusBody({ clock }: Services, run: RunFacts, procedure: string): string | null {
  if (procedure === "agents.status") return JSON.stringify(agentRunStatus(run));
  return procedure === "tools.status" ? JSON.stringify(toolRunStatus(run, clock.now())) : null;
}
