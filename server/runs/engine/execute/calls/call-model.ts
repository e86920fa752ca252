import { Decimal, ZERO } from "@/server/base/amount";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { pauseAt } from "@/server/base/pause-points";
import { KIB } from "@/server/contract/sizes";
import {
  creditsOfUsage,
  MIN_OUTPUT_TOKENS,
  mostCreditsOf,
  outputTokensFor,
  REPEAT_OUTPUT_TOKENS,
  WANTED_OUTPUT_TOKENS,
} from "@/server/credits/prices";
import { cutBytes, replaceNul } from "@/server/guard/secrets/stored-output";
import { rewriteToolCalls } from "@/server/runs/attempts";
import {
  type CutOff,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
} from "@/server/work/models/port";
import { sealCallState } from "../../call-state";
import type { FinishedCall } from "../../write/journal";
import { exactly } from "../budget";
import type { Execution } from "../execution";
import { CapReached, CreditsExhausted } from "../interruptions";
import { findModels } from "../own-models";
import { showPartialOutput } from "../partial-output";

/** Longer reasoning is cut. */
const MAX_REASONING_BYTES = 64 * KIB;

type CallRequest = Omit<ModelRequest, "signal" | "maxOutputTokens"> & {
  maxOutputTokens?: number | undefined;
};

/**
 * Calls a model on the run's account. A finished call is returned from the journal. Otherwise its price is reserved,
 * the call is made within that, and reply, usage and price become one journal row. The partial output of an interrupted
 * call is charged as well. `signal` ends the call earlier than the run's own would. Throws CreditsExhausted,
 * CapReached, ModelError, WorkerLost, or the signal's reason.
 */
export async function callModel(
  execution: Execution,
  call: { key: string; iteration: number; request: CallRequest },
  signal: AbortSignal = execution.signal,
): Promise<FinishedCall> {
  const { services, run, budget, journal, secrets } = execution;
  const { key, iteration, request } = call;
  const finished = journal.calls.get(key);
  if (finished !== undefined) return finished;
  const models = await retryWhileUnavailable(() => findModels(execution, request.model), signal);
  const provider = models.providerOf(request.model);
  const reservation = await reserveForCall(execution, request, provider);
  const { maxOutputTokens } = reservation;
  const begun = await journal.beginCall({ key, iteration, provider, model: request.model });
  const priceOf = (usage: ModelReply["usage"]) =>
    provider === "demo" ? ZERO : creditsOfUsage(run.prices, request.model, usage);
  const partial = showPartialOutput((content) => journal.showProgress(begun, { content }));
  const earlier = [...begun.attempts];
  let reply: ModelReply;
  try {
    reply = await models.call({
      ...request,
      maxOutputTokens,
      // A limit that was set is final.
      raiseLimit:
        request.maxOutputTokens === undefined
          ? (cutOff) => reserveForRepeat(execution, { model: request.model, reservation, cutOff })
          : undefined,
      // A signal for this call only, so that a client's listeners are released with the call and not with the run.
      signal: AbortSignal.any([signal]),
      onText: partial.update,
      onRetry: async (attempts) => journal.showProgress(begun, { attempts: [...earlier, ...attempts] }),
    });
  } catch (error) {
    const failed = error instanceof ModelError || error instanceof ModelCallStopped ? error : null;
    const received = failed?.received ?? null;
    const credits = await budget.spend(reservation.reserved, received ? priceOf(received.usage) : ZERO);
    begun.attempts.push(...(failed?.attempts ?? []));
    const cause = error instanceof ModelCallStopped ? error.cause : error;
    const message = cause instanceof Error ? cause.message : String(cause);
    const isOver = failed === null && execution.signal.aborted;
    if (isOver) journal.abandon(begun);
    else journal.finishCall(begun, { error: message, received, credits });
    throw cause;
  } finally {
    partial.close();
  }
  await pauseAt("act:after");
  begun.attempts.push(...reply.attempts);
  reply.content = replaceNul(reply.content);
  reply.reasoning = cutBytes(replaceNul(secrets.redact(reply.reasoning)), MAX_REASONING_BYTES);
  reply.toolCalls = rewriteToolCalls(reply.toolCalls, replaceNul);
  const sealedState = sealCallState(services, { run, key }, reply.state);
  const credits = await budget.spend(reservation.reserved, priceOf(reply.usage));
  await pauseAt("act:after");
  journal.finishCall(begun, { reply, sealedState, credits });
  return reply;
}

/** `reserved` grows if the call is repeated with a larger limit. */
type CallReservation = { reserved: Decimal; maxOutputTokens: number };

/**
 * Reserves what a call may cost. Usually cap and balance allow a quick bound of the prompt with the full output. If
 * not, the prompt is counted exactly, and the output is limited to what the reservation pays for.
 */
async function reserveForCall(
  { services, run, budget }: Execution,
  request: CallRequest,
  provider: string,
): Promise<CallReservation> {
  const limit = request.maxOutputTokens ?? WANTED_OUTPUT_TOKENS;
  if (provider === "demo") return { reserved: ZERO, maxOutputTokens: limit };
  const priceFor = (inputTokens: number, outputTokens: number) =>
    mostCreditsOf(run.prices, request.model, { inputTokens, outputTokens });

  const ample = priceFor(services.models.boundTokens(request), limit);
  const reserved = await budget.reserve(exactly(ample)).catch((error: unknown) => {
    if (error instanceof CapReached || error instanceof CreditsExhausted) return null;
    throw error;
  });
  if (reserved !== null) return { reserved, maxOutputTokens: limit };

  const inputTokens = await services.models.countTokens(request);
  const scarce = await budget.reserve({
    least: priceFor(inputTokens, 1),
    minimum: priceFor(inputTokens, Math.min(limit, MIN_OUTPUT_TOKENS)),
    wanted: priceFor(inputTokens, limit),
  });
  const affordable = outputTokensFor(run.prices, { model: request.model, credits: scarce, inputTokens });
  return { reserved: scarce, maxOutputTokens: Math.max(1, Math.min(limit, affordable)) };
}

/** The limits that a repeat tries to reserve, until cap and balance allow one. */
const REPEAT_LIMITS = [REPEAT_OUTPUT_TOKENS, REPEAT_OUTPUT_TOKENS / 2, REPEAT_OUTPUT_TOKENS / 4];

/** Reserves the repeat of a call that was cut off, beside what its attempts have used. Returns the repeat's limit. */
async function reserveForRepeat(
  { run, budget }: Execution,
  call: { model: string; reservation: CallReservation; cutOff: CutOff },
): Promise<number> {
  const { model, reservation, cutOff } = call;
  const limits = new Set(REPEAT_LIMITS.map((limit) => Math.min(limit, cutOff.maximum)));
  const { maxOutputTokens } = reservation;
  const { inputTokens } = cutOff.last;
  const used = creditsOfUsage(run.prices, model, cutOff.total);
  const missingFor = (outputTokens: number) =>
    Decimal.max(
      ZERO,
      used.add(mostCreditsOf(run.prices, model, { inputTokens, outputTokens })).sub(reservation.reserved),
    );
  for (const limit of [...limits].filter((each) => each > maxOutputTokens)) {
    const missing = missingFor(limit);
    try {
      const least = missingFor(maxOutputTokens + 1);
      const added = await budget.reserve({ least, minimum: missing, wanted: missing });
      reservation.reserved = reservation.reserved.add(added);
    } catch (error) {
      if (error instanceof CapReached) return maxOutputTokens;
      if (error instanceof CreditsExhausted) continue;
      throw error;
    }
    const credits = reservation.reserved.sub(used);
    return Math.min(limit, outputTokensFor(run.prices, { model, credits, inputTokens }));
  }
  return maxOutputTokens;
}
