import type { ApiKeyActor } from "@/server/auth/actor";
import { peekKey } from "@/server/auth/authenticate-key";
import { newId } from "@/server/ids";
import { type RateDecision, rateLimitHeaders } from "@/server/limits/rate-limit";
import { acquireLeasedRead, acquireRead } from "@/server/limits/read-lease";
import type { EndedRun } from "@/server/runs/ended-runs";
import { executingRunFacts } from "@/server/runs/engine/poll-facts";
import { agentRunStatus, toolRunStatus } from "@/server/runs/read/views";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/services";
import type { ApiResponse } from "./http/api-request";
import { JSON_HEADERS, jsonResponse } from "./http/respond";

/**
 * Answers polls from memory: a cached key, a leased read, and a run that ended lately or executes here. Other polls
 * take the complete path (rest.ts), which renders the same views; a contract test compares both byte for byte.
 */

/** The views of one run, by the end of their path. */
const VIEWS = {
  "/status": { agents: "agents.status", tools: "tools.status" },
  "/details": { agents: "agents.details", tools: undefined },
  "/result": { agents: undefined, tools: "tools.result" },
} as const;

type View = { kind: "agent" | "tool"; runId: string; operationId: string };

/**
 * Answers a poll from memory; null if it cannot. Counts the read if it answers. The promise is for a key whose next
 * reads must be leased first.
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
  if (decision === "refused") return null;
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

/** `/v1/agents/run/{id}/status` and its like, without a regular expression. */
function readPath(path: string): View | null {
  const collection = path.startsWith("/v1/agents/run/")
    ? "agents"
    : path.startsWith("/v1/tools/run/")
      ? "tools"
      : null;
  if (collection === null) return null;
  const start = collection === "agents" ? 15 : 14;
  const end = path.slice(start + 36);
  if (end !== "/status" && end !== "/details" && end !== "/result") return null;
  const operationId = VIEWS[end][collection];
  if (operationId === undefined) return null;
  return {
    kind: collection === "agents" ? "agent" : "tool",
    runId: path.slice(start, start + 36),
    operationId,
  };
}

function bodyOf(services: Services, actor: ApiKeyActor, { kind, runId, operationId }: View): string | null {
  const ended = services.endedRuns.get(runId);
  if (ended) {
    if (ended.orgId !== actor.orgId || !isKind(ended.run, kind)) return null;
    return ended.bodies.get(operationId) ?? renderStatus(services, ended, operationId);
  }
  const executing = services.engine.find(runId);
  if (!executing || executing.run.orgId !== actor.orgId || executing.run.kind !== kind) return null;
  const facts = executingRunFacts(executing);
  if (operationId === "agents.status") return JSON.stringify(agentRunStatus(facts));
  if (operationId === "tools.status") return JSON.stringify(toolRunStatus(facts, services.clock.now()));
  return null;
}

function isKind(run: RunFacts, kind: "agent" | "tool"): boolean {
  return (kind === "agent" ? run.agentId : run.toolId) !== null;
}

/** Details and results need more than the run; the complete path caches their bodies. */
function renderStatus(services: Services, ended: EndedRun, operationId: string): string | null {
  if (operationId === "agents.status") {
    return services.endedRuns.cacheBody(ended, operationId, JSON.stringify(agentRunStatus(ended.run)));
  }
  if (operationId === "tools.status") {
    const view = toolRunStatus(ended.run, services.clock.now());
    return services.endedRuns.cacheBody(ended, operationId, JSON.stringify(view));
  }
  return null;
}
