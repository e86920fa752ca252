import type { Actor } from "@/server/base/actor";
import { type Decimal, ZERO } from "@/server/base/amount";
import { isForeignKeyViolation, isUniqueViolation } from "@/server/base/db/transaction";
import { AppError, isAppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import {
  type CountedLimit,
  type RateDecision,
  rateLimited,
  rateLimitHeaders,
} from "@/server/guard/limits/rate-limit";
import type { Services } from "@/server/runs/services";
import { type Worker, withWorker } from "./engine/port";
import type { StartItem, StartVerdict } from "./engine/write/flush-items";
import { describeTakeOver } from "./fork/take-over";
import { type PreparedStart, prepareStart, type StartRequest } from "./prepare-start";
import { claimedRun, countedCall, type Start, type StartConditions, sourceOf, startItem } from "./start-item";

export type StartResult = {
  runId: string;
  rate: RateDecision | null;
  replay: string | null;
};

/**
 * Starts a run or queues it (docs/engine.md), and holds its credits. If `conditions` has a limit, call
 * `rejectStart` for earlier rejections. Throws `not_found`, `agent_inactive`, `invalid_request` with issues,
 * `insufficient_credits`, `organization_suspended`, `rate_limited`, `idempotency_conflict`; by then the call is
 * counted.
 */
export async function startRun(
  services: Services,
  actor: Actor,
  { conditions = {}, ...request }: StartRequest & { conditions?: StartConditions | undefined },
): Promise<StartResult> {
  // Not left to the writer: while the organization is being removed, its row is locked, and other starts would wait, too.
  if (actor.kind === "member" && actor.suspended) throw suspendedError(actor);
  let prepared: PreparedStart;
  try {
    prepared = await prepareStart(services, actor, request);
  } catch (error) {
    return rejectStart(services, actor, { error, conditions });
  }
  let start: Start = { actor, request, conditions, prepared, runId: newId() };
  if (request.fork !== undefined) {
    start.takeOver = await describeTakeOver(
      services,
      { orgId: actor.orgId, runId: start.runId },
      request.fork,
    );
  }
  let verdict = await writeStart(services, start);
  if (verdict.verdict === "credits") {
    // The quick bound usually suffices; tokens are counted only if it would be rejected.
    const hold = await prepared.countHold();
    if (hold.lt(prepared.hold)) {
      // The first attempt counted the call.
      const { limit: _, ...uncounted } = conditions;
      start = { ...start, conditions: uncounted, prepared: { ...prepared, hold, headroom: ZERO } };
      verdict = { ...(await writeStart(services, start)), rate: verdict.rate };
    }
  }
  if (verdict.verdict === "credits") {
    const error = await insufficientCredits(services, actor, start.prepared.hold);
    throw withRateHeaders(error, conditions.limit, rateDecisionOf(conditions.limit, verdict));
  }
  return concludeStart(services, start, { verdict, limit: conditions.limit });
}

/**
 * Rejects a start with `error`, unless it repeats an accepted one, which then answers. The call counts against its
 * limit. Throws `rate_limited`, `idempotency_conflict` or `error`.
 */
export async function rejectStart(
  services: Services,
  actor: Actor,
  { error, conditions }: { error: unknown; conditions: StartConditions },
): Promise<StartResult> {
  const { limit, idempotency } = conditions;
  if (limit === undefined && idempotency === undefined) throw error;
  const call = countedCall(actor, conditions);
  const verdict = await withWorker(services.engine, ({ accounts }) => accounts.reject(call));
  if (verdict.verdict === "reject") throw withRateHeaders(error, limit, rateDecisionOf(limit, verdict));
  return repeatedStart(verdict, limit);
}

async function writeStart(services: Services, start: Start): Promise<StartVerdict & { worker?: Worker }> {
  const { actor, prepared } = start;
  const send = (item: StartItem) =>
    withWorker(services.engine, async (worker) => ({ ...(await worker.accounts.start(item)), worker }));
  const item = startItem(start);
  // The configuration is not known to be stored, or retention has deleted it: the item includes it.
  const withDocument = { ...item, document: prepared.document };
  try {
    const isStored = services.configurationsStored.has(`${actor.orgId} ${prepared.hash}`);
    const first = await send(isStored ? item : withDocument).catch((error: unknown) => {
      if (isForeignKeyViolation(error, "runs_organization_id_configuration_hash_fkey"))
        return send(withDocument);
      throw error;
    });
    let verdict = first;
    // The first attempt counted the call.
    const uncounted = { ...withDocument, rate_key: null };
    while (verdict.verdict === "again") verdict = { ...(await send(uncounted)), rate: first.rate };
    return verdict;
  } catch (error) {
    // The worker was lost after it had committed the start: the run exists and waits.
    if (!isUniqueViolation(error, "runs_pkey")) throw error;
    return { verdict: "wait", at: services.clock.now(), rate: null, replay: null };
  }
}

function concludeStart(
  services: Services,
  start: Start,
  { verdict, limit }: { verdict: StartVerdict & { worker?: Worker }; limit: CountedLimit | undefined },
): StartResult {
  const { actor, prepared, runId } = start;
  const rate = rateDecisionOf(limit, verdict);
  switch (verdict.verdict) {
    case "suspended":
      throw withRateHeaders(suspendedError(actor), limit, rate);
    case "wait":
      services.engine.wake();
      services.notifications.send("engine", "waiting", "waiting");
      break;
    case "run":
    case "run+": {
      const held = verdict.verdict === "run" ? prepared.hold : prepared.hold.add(prepared.headroom);
      if (verdict.worker)
        services.engine.begin(claimedRun(services, start, { at: verdict.at, held }), verdict.worker);
      break;
    }
    default:
      return repeatedStart(verdict, limit);
  }
  services.metrics.runsStarted.of(prepared.target.kind, sourceOf(start)).value += 1;
  services.configurationsStored.set(`${actor.orgId} ${prepared.hash}`, true);
  return { runId, rate, replay: null };
}

/** Throws `rate_limited` or `idempotency_conflict`. */
function repeatedStart(verdict: StartVerdict, limit: CountedLimit | undefined): StartResult {
  const rate = rateDecisionOf(limit, verdict);
  if (verdict.replay) return { runId: verdict.replay.runId, replay: verdict.replay.response, rate };
  if (verdict.verdict === "rate" && limit && rate) throw rateLimited(limit.name, rate);
  if (verdict.verdict !== "conflict") throw new Error(`unexpected verdict ${verdict.verdict}`);
  const message = "This Idempotency-Key was used with another request.";
  throw withRateHeaders(new AppError("idempotency_conflict", message), limit, rate);
}

function rateDecisionOf(
  limit: CountedLimit | undefined,
  { verdict, rate }: StartVerdict,
): RateDecision | null {
  if (limit === undefined || rate === null) return null;
  return { allowed: verdict !== "rate", limit: limit.limit, seconds: limit.seconds, ...rate };
}

function withRateHeaders(
  error: unknown,
  limit: CountedLimit | undefined,
  rate: RateDecision | null,
): unknown {
  if (isAppError(error) && rate && limit) Object.assign(error.headers, rateLimitHeaders(limit.name, rate));
  return error;
}

/** Names the balance only to callers that may read it. */
export async function insufficientCredits(
  { db }: Pick<Services, "db">,
  actor: Actor,
  hold: Decimal,
): Promise<AppError> {
  const mayRead = actor.kind === "api_key" ? actor.scopes.includes("runs:read") : actor.kind !== "trigger";
  const found = mayRead
    ? await db.organization.findUnique({ where: { id: actor.orgId }, select: { balance: true } })
    : null;
  const balance = found === null ? "" : `; the balance is ${found.balance.toFixed(4)}`;
  const message = `The start needs a hold of ${hold.toFixed(4)} credits${balance}`;
  return new AppError("insufficient_credits", "Insufficient credits.", { issues: [{ path: "", message }] });
}

function suspendedError(actor: Actor): AppError {
  const message = "The organization is suspended. Runs can be read but not started.";
  return new AppError("organization_suspended", message, actor.kind === "trigger" ? { status: 400 } : {});
}
