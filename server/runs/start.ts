import type { Actor } from "@/server/auth/actor";
import { ZERO } from "@/server/credits/amount";
import { isForeignKeyViolation, isUniqueViolation } from "@/server/db/sql";
import { AppError, isAppError } from "@/server/errors";
import { newId } from "@/server/ids";
import { type CountedLimit, type RateDecision, rateLimited } from "@/server/limits/rate-limit";
import type { Services } from "@/server/services";
import type { Worker } from "./engine/port";
import { withWorker } from "./engine/with-worker";
import type { RateLeft, RefusalItem, Replay, StartItem, StartVerdict } from "./engine/write/flush-items";
import { type PreparedStart, prepareStart, type StartRequest } from "./prepare-start";
import {
  claimedRun,
  limitItem,
  repetitionItem,
  type Start,
  type StartConditions,
  startItem,
} from "./start-item";

export type StartResult = { rate: RateDecision | null } & (
  | { runId: string; replay: null }
  /** The stored response of an earlier equal request. */
  | { runId: string; replay: string }
);

/**
 * Starts a run (docs/engine.md). One item of the writer's next flush inserts it with its frozen configuration, holds
 * its credits, and decides whether it executes here immediately or waits for a slot. Throws AppError `not_found`,
 * `agent_inactive`, `invalid_request` with issues, `insufficient_credits`, `organization_suspended`, `rate_limited`,
 * `idempotency_conflict`. If `conditions` has a limit, call `refuseStart` for earlier refusals.
 */
export async function startRun(
  services: Services,
  actor: Actor,
  { conditions = {}, ...request }: StartRequest & { conditions?: StartConditions | undefined },
): Promise<StartResult> {
  conditions.asked = true;
  let prepared: PreparedStart;
  try {
    prepared = await prepareStart(services, actor, request);
  } catch (error) {
    return refuseStart(services, actor, { error, conditions });
  }
  const runId = newId();
  let result = await commit(services, { actor, request, conditions, prepared, runId });
  if ("refused" in result) {
    const { rate } = result;
    // The quick bound usually suffices; tokens are counted only if it would be refused.
    const hold = await prepared.countHold();
    if (hold.lt(prepared.hold)) {
      const counted = { ...prepared, hold, headroom: ZERO };
      // The first attempt counted the call.
      const { limit: _, ...uncounted } = conditions;
      result = {
        ...(await commit(services, { actor, request, conditions: uncounted, prepared: counted, runId })),
        rate,
      };
    }
  }
  if ("refused" in result) {
    throw withRate(
      new AppError("insufficient_credits", "Insufficient credits."),
      conditions.limit,
      result.rate,
    );
  }
  return result;
}

/**
 * Refuses a start with `error`, unless its limit is reached or it repeats an accepted start, which then answers. The
 * call counts against its limit. Throws `rate_limited`, `idempotency_conflict` or `error`.
 */
export async function refuseStart(
  services: Services,
  actor: Actor,
  { error, conditions }: { error: unknown; conditions: StartConditions },
): Promise<StartResult> {
  conditions.asked = true;
  const { limit, idempotency } = conditions;
  if (limit === undefined && idempotency === undefined) throw error;
  const item: RefusalItem = { org: actor.orgId, ...limitItem(limit), ...repetitionItem(conditions) };
  const verdict = await withWorker(services.engine, ({ accounts }) => accounts.refuse(item));
  const rate = decision(limit, verdict.rate, verdict.verdict !== "rate");
  if (verdict.verdict === "rate") throw rateRefusal(limit, rate);
  if (verdict.verdict === "conflict") throw withRate(conflict(), limit, rate);
  if (verdict.verdict === "replay") return replayed(verdict.replay, rate);
  throw withRate(error, limit, rate);
}

/** The error with the headers of the rate limit that counted the call. */
function withRate(error: unknown, limit: CountedLimit | undefined, rate: RateDecision | null): unknown {
  if (isAppError(error) && rate && limit) Object.assign(error.headers, limit.headers(rate));
  return error;
}

/** Commits the start, unless the balance does not allow the hold. */
async function commit(
  services: Services,
  parts: Start,
): Promise<StartResult | { refused: "credits"; rate: RateDecision | null }> {
  const { actor, conditions, prepared, runId } = parts;
  const { limit } = conditions;
  let startedBy: Worker | undefined;
  const send = (sent: StartItem) =>
    withWorker(services.engine, (worker) => {
      startedBy = worker;
      return worker.accounts.start(sent);
    });
  const item = startItem(parts);
  // The configuration is not known to be stored, or retention has deleted it: the item includes it.
  const withDocument = { ...item, document: prepared.document };
  const isStored = services.configurationsStored.has(`${actor.orgId} ${prepared.hash}`);
  let verdict = await send(isStored ? item : withDocument).catch(
    (error: unknown): Promise<StartVerdict> | StartVerdict => {
      if (isForeignKeyViolation(error, "runs_organization_id_configuration_hash_fkey"))
        return send(withDocument);
      // The worker was lost after it had committed the start: the run exists and waits.
      if (isUniqueViolation(error, "runs_pkey"))
        return { verdict: "wait", at: services.clock.now(), rate: null };
      throw error;
    },
  );
  while (verdict.verdict === "again") verdict = await send(withDocument);
  const rate = decision(limit, verdict.rate, verdict.verdict !== "rate");
  switch (verdict.verdict) {
    case "rate":
      throw rateRefusal(limit, rate);
    case "conflict":
      throw withRate(conflict(), limit, rate);
    case "credits":
      return { refused: "credits", rate };
    case "suspended":
      throw withRate(suspended(actor), limit, rate);
    case "replay":
      return replayed(verdict.replay, rate);
    case "wait":
      services.configurationsStored.set(`${actor.orgId} ${prepared.hash}`, true);
      services.engine.wake();
      services.notifications.send("engine", "waiting", "waiting");
      return { runId, rate, replay: null };
    case "run": {
      services.configurationsStored.set(`${actor.orgId} ${prepared.hash}`, true);
      const held = verdict.held === "hold" ? prepared.hold : prepared.hold.add(prepared.headroom);
      if (startedBy) services.engine.begin(claimedRun(services, parts, { at: verdict.at, held }), startedBy);
      return { runId, rate, replay: null };
    }
  }
}

function decision(limit: CountedLimit | undefined, left: RateLeft, allowed: boolean): RateDecision | null {
  if (limit === undefined || left === null) return null;
  return { allowed, limit: limit.limit, seconds: limit.seconds, ...left };
}

function rateRefusal(limit: CountedLimit | undefined, rate: RateDecision | null): AppError {
  if (limit === undefined || rate === null) throw new Error("a call without a limit was limited");
  return rateLimited(limit.name, rate);
}

function replayed({ runId, response }: Replay, rate: RateDecision | null): StartResult {
  return { runId, replay: response, rate };
}

function conflict(): AppError {
  return new AppError("idempotency_conflict", "This Idempotency-Key was used with another request.");
}

function suspended(actor: Actor): AppError {
  const message = "The organization is suspended. Runs can be read but not started.";
  return new AppError("organization_suspended", message, actor.kind === "trigger" ? { status: 400 } : {});
}
