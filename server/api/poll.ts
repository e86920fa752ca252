import type { ApiKeyActor, OrgId } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { peekKey } from "@/server/catalog/auth/authenticate-key";
import type { RunKind } from "@/server/contract/enums";
import { type RateDecision, rateLimitHeaders } from "@/server/guard/limits/rate-limit";
import { acquireLeasedRead, acquireRead } from "@/server/guard/limits/read-lease";
import type { TaggedBody } from "@/server/runs/ended-runs";
import { executingRunFacts } from "@/server/runs/engine/poll-facts";
import type { Services } from "@/server/services";
import type { Endpoint } from "./endpoint";
import type { ApiResponse } from "./http/api-request";
import { answerIfChanged, tagBody } from "./http/entity-tag";
import { JSON_HEADERS } from "./http/respond";
import { ENDPOINTS } from "./v1/endpoints";

/**
 * Answers polls from memory if the key is cached, the read is leased, and the run ended lately or executes here.
 * Others take the complete path (rest.ts); a test compares both byte for byte.
 */

type View = { procedure: string; kind: RunKind; scope: Endpoint["scope"]; viewRun: Endpoint["viewRun"] };
/** `known`: the header If-None-Match. */
type Poll = { view: View; runId: string; orgId?: OrgId; known?: string | undefined };
type PollHeaders = { "x-api-key"?: string | undefined; "if-none-match"?: string | undefined };

/**
 * Answers and counts a poll from memory; null if it cannot. The promise is for a key whose next reads must be
 * leased first.
 */
export function respondToPoll(
  services: Services,
  path: string,
  headers: PollHeaders,
): ApiResponse | Promise<ApiResponse | null> | null {
  const key = headers["x-api-key"];
  if (typeof key !== "string") return null;
  const poll = readPath(path);
  const actor = poll && peekKey(services, key);
  if (!poll || !actor || !mayPoll(actor, poll.view)) return null;
  const body = bodyOf(services, actor, poll);
  if (body === null) return null;
  poll.orgId = actor.orgId;
  poll.known = headers["if-none-match"];
  const decision = acquireLeasedRead(services, actor);
  if (decision === "rejected") return null;
  return decision === "unleased" ? afterLease(services, actor, poll) : responseOf(body, decision, poll);
}

async function afterLease(services: Services, actor: ApiKeyActor, poll: Poll): Promise<ApiResponse | null> {
  const decision = await acquireRead(services, actor);
  if (decision?.allowed === false) return null;
  const body = bodyOf(services, actor, poll);
  return body === null ? null : responseOf(body, decision, poll);
}

function responseOf(
  { body, etag }: TaggedBody,
  decision: RateDecision | null,
  { orgId, known }: Poll,
): ApiResponse {
  const requestId = newId();
  const rate = decision && rateLimitHeaders("reads", decision);
  // One literal each: spreading three objects took a fifteenth of a poll's time.
  const headers: Record<string, string> =
    rate === null
      ? { ...JSON_HEADERS, "X-Request-Id": requestId, ETag: etag }
      : {
          "Content-Type": JSON_HEADERS["Content-Type"],
          "Cache-Control": JSON_HEADERS["Cache-Control"],
          "X-Request-Id": requestId,
          ETag: etag,
          "RateLimit-Policy": rate["RateLimit-Policy"],
          RateLimit: rate.RateLimit,
        };
  const response = { status: 200, headers, body, orgId };
  return known === undefined ? response : answerIfChanged(response, etag, known);
}

function mayPoll({ plan, scopes, targetIds, suspended }: ApiKeyActor, { scope }: View): boolean {
  // A key that is limited to some targets takes the complete path.
  return plan.apiAccess && !suspended && targetIds.length === 0 && scopes.includes(scope);
}

// By the path before the run's id, such as `/v1/agents/run/`, then by the path after it, such as `/status`.
const VIEWS = new Map<string, Map<string, View>>();
for (const [procedure, { answers, path, kind, scope, viewRun }] of Object.entries(ENDPOINTS)) {
  const [before = "", after = ""] = path.split(/\{\w+\}/);
  if (answers !== "view" || kind === undefined) continue;
  const views = VIEWS.get(before) ?? new Map<string, View>();
  VIEWS.set(before, views.set(after, { procedure, kind, scope, viewRun }));
}
const UUID_LENGTH = 36;

// Reads the path without a regular expression, which is slower.
function readPath(path: string): Poll | null {
  for (const [before, views] of VIEWS) {
    if (!path.startsWith(before)) continue;
    const end = before.length + UUID_LENGTH;
    const view = views.get(path.slice(end));
    return view === undefined ? null : { view, runId: path.slice(before.length, end) };
  }
  return null;
}

const lastTagged = new WeakMap<object, TaggedBody>();

function bodyOf(services: Services, actor: ApiKeyActor, { view, runId }: Poll): TaggedBody | null {
  const { kind, procedure, viewRun } = view;
  const ended = services.endedRuns.get(runId);
  if (ended) {
    const targetId = kind === "agent" ? ended.run.agentId : ended.run.toolId;
    if (ended.orgId !== actor.orgId || targetId === null) return null;
    const known = ended.bodies.get(procedure);
    if (known !== undefined) return known;
    // Details and results need more than the run; the complete path caches their bodies.
    if (viewRun === undefined) return null;
    const body = JSON.stringify(viewRun(services, ended.run));
    return services.endedRuns.cacheBody(ended, procedure, tagBody(body, { kind, isFinal: true }));
  }
  const executing = services.engine.find(runId);
  if (!executing || executing.run.orgId !== actor.orgId || executing.run.kind !== kind) return null;
  if (viewRun === undefined) return null;
  const body = JSON.stringify(viewRun(services, executingRunFacts(executing)));
  // Most polls find the run as the one before did.
  const known = lastTagged.get(executing.run);
  const tagged = tagBody(body, { kind, isFinal: false, known });
  if (tagged !== known) lastTagged.set(executing.run, tagged);
  return tagged;
}
