import { type Decimal, ZERO } from "@/server/base/amount";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { pauseAt } from "@/server/base/pause-points";
import { KIB, MAX_ANSWERS_BYTES, MAX_TREE_OUTPUTS_BYTES, MIB } from "@/server/contract/sizes";
import { creditsOfUsage } from "@/server/credits/prices";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import { cutBytes, replaceNul } from "@/server/guard/secrets/stored-output";
import { rewriteToolCalls } from "@/server/runs/attempts";
import type { Services } from "@/server/runs/services";
import { boundBodyLength } from "@/server/work/models/calls/body-length";
import { addUsage } from "@/server/work/models/calls/reported-usage";
import {
  type Attempt,
  ModelCallStopped,
  ModelError,
  type ModelReply,
  type ModelRequest,
  type Models,
  type ModelUsage,
  type ReceivedOutput,
} from "@/server/work/models/port";
import { findPriceIssue } from "@/server/work/models/settings";
import { sealCallState } from "../../call-state";
import { type FinishedCall, textsOfCall } from "../../write/journal-contents";
import type { ModelCallRow } from "../../write/journal-rows";
import type { Execution } from "../execution";
import { findModels } from "../own-models";
import { showPartialOutput } from "../partial-output";
import { isFree, reserveForCall, reserveForRepeat } from "./reserve-call";

// Shorter requests are made without waiting for memory.
const LIGHT_BODY_LENGTH = MIB;
const MAX_REASONING_BYTES = 64 * KIB;

type CallRequest = Omit<ModelRequest, "signal" | "maxOutputTokens"> & {
  maxOutputTokens?: number | undefined;
  fallbackModels?: readonly string[] | undefined;
};

type Candidate = {
  model: string;
  provider: string;
  isOwn: boolean;
  call: Models["call"];
};

/**
 * Calls a model on the run's account, or returns a finished call from the journal. Partial output of an interrupted
 * call is charged. `signal` may end the call earlier than the run's own. Throws LimitReached, CapReached,
 * ModelError, WorkerLost, or the signal's reason.
 */
export async function callModel(
  execution: Execution,
  call: { key: string; iteration: number; request: CallRequest; memory: StepMemory },
  signal: AbortSignal = execution.signal,
): Promise<FinishedCall> {
  const { services, run, budget, journal, secrets } = execution;
  const { key, iteration, memory } = call;
  const { fallbackModels = [], ...request } = call.request;
  const finished = journal.calls.get(key);
  if (finished !== undefined) return finished;
  const [first, ...others] = await retryWhileUnavailable(
    () => findCandidates(execution, [request.model, ...fallbackModels]),
    signal,
  );
  if (first === undefined) throw new Error("a call has at least one model");
  const reservation = await reserveForCall(execution, request, [first, ...others]);
  const { maxOutputTokens } = reservation;
  const bodyLength = boundBodyLength(request.messages);
  try {
    if (bodyLength > LIGHT_BODY_LENGTH) await memory.holdRequest(bodyLength, signal);
    signal.throwIfAborted();
  } catch (error) {
    await budget.spend(reservation.reserved, ZERO);
    throw error;
  }
  const started = await journal.beginCall({ key, iteration, provider: first.provider, model: first.model });
  const priceOf = (candidate: Candidate, usage: ModelUsage) =>
    isFree(candidate) ? ZERO : creditsOfUsage(run.prices, candidate.model, usage);
  const partial = showPartialOutput((content) => journal.showProgress(started, { content }));
  const isOnly = others.length === 0;
  const named = ({ provider, model }: Candidate, attempts: readonly Attempt[]): readonly Attempt[] =>
    isOnly ? attempts : attempts.map((attempt) => ({ ...attempt, provider, model }));
  // The output of models that then did not answer, and its price.
  let lost: { received: ReceivedOutput | null; credits: Decimal } = { received: null, credits: ZERO };
  const callOne = (candidate: Candidate) =>
    candidate.call({
      ...request,
      model: candidate.model,
      organizationId: run.orgId,
      maxOutputTokens,
      // A limit that was set is final.
      raiseLimit:
        request.maxOutputTokens === undefined
          ? (cutOff) =>
              reserveForRepeat(execution, {
                model: candidate.model,
                reservation,
                lost: lost.credits,
                cutOff,
              })
          : undefined,
      signal,
      holdResponse: (bytes) => memory.holdResponse(bytes),
      onText: partial.update,
      onRetry: async (attempts) =>
        journal.showProgress(started, { attempts: [...started.attempts, ...named(candidate, attempts)] }),
    });
  let candidate = first;
  let reply: ModelReply;
  try {
    for (;;) {
      try {
        reply = await callOne(candidate);
        limitAnswers(execution, reply);
        break;
      } catch (error) {
        const failed = error instanceof ModelError || error instanceof ModelCallStopped ? error : null;
        started.attempts.push(...named(candidate, failed?.attempts ?? []));
        if (error instanceof ModelError) countProviderError(services, candidate, error);
        if (failed?.received) {
          const { content, usage } = failed.received;
          const total = lost.received === null ? usage : addUsage(lost.received.usage, usage);
          const credits = lost.credits.add(priceOf(candidate, usage));
          lost = { received: { content, usage: total }, credits };
        }
        const next = error instanceof ModelError && error.fallsBack ? others.shift() : undefined;
        if (next === undefined || signal.aborted) throw error;
        candidate = next;
        Object.assign(started.row, { provider: next.provider, model: next.model });
        journal.showProgress(started, { attempts: started.attempts, content: "" });
      }
    }
  } catch (error) {
    const { received } = lost;
    const credits = await budget.spend(reservation.reserved, lost.credits);
    const cause = error instanceof ModelCallStopped ? error.cause : error;
    const message = cause instanceof Error ? cause.message : String(cause);
    const isOver = received === null && !(error instanceof ModelError) && execution.signal.aborted;
    if (isOver) journal.abandon(started);
    else {
      journal.finishCall(started, { error: message, received, credits });
      countCall(services, candidate, started.row);
    }
    throw cause;
  } finally {
    partial.close();
  }
  await pauseAt("act:after");
  started.attempts.push(...named(candidate, reply.attempts));
  services.metrics.models.of(candidate.model, candidate).retries.value += Math.max(
    0,
    reply.attempts.length - 1,
  );
  reply.content = replaceNul(reply.content);
  reply.reasoning = cutBytes(replaceNul(await secrets.redactLong(reply.reasoning)), MAX_REASONING_BYTES);
  reply.toolCalls = rewriteToolCalls(reply.toolCalls, replaceNul);
  const sealedState = sealCallState(services, { run, key }, reply.state);
  const price = lost.credits.add(priceOf(candidate, reply.usage));
  if (lost.received !== null) reply.usage = addUsage(lost.received.usage, reply.usage);
  const credits = await budget.spend(reservation.reserved, price);
  await pauseAt("act:after");
  journal.finishCall(started, { reply, sealedState, credits });
  countCall(services, candidate, started.row);
  return reply;
}

/** Only additions: it counts every call. */
function countCall({ metrics }: Pick<Services, "metrics">, candidate: Candidate, row: ModelCallRow): void {
  const figures = metrics.models.of(candidate.model, candidate);
  (row.status === "Completed" ? figures.completed : figures.failed).value += 1;
  figures.inputTokens.value += row.input_tokens;
  figures.cachedInputTokens.value += row.cached_input_tokens;
  figures.outputTokens.value += row.output_tokens;
  figures.credits.value += Number(row.credits);
  figures.seconds.observe((row.duration_ms ?? 0) / 1_000);
}

function countProviderError(
  { metrics }: Pick<Services, "metrics">,
  { model, provider, isOwn }: Candidate,
  { reason, attempts }: ModelError,
): void {
  metrics.models.errors.of(reason, isOwn ? "own" : provider).value += 1;
  metrics.models.of(model, { isOwn }).retries.value += Math.max(0, attempts.length - 1);
}

const findCandidates = (execution: Execution, names: readonly string[]): Promise<Candidate[]> =>
  Promise.all(
    names.map(async (model) => {
      const models = await findModels(execution, model);
      const isOwn = models !== execution.services.models;
      const call = isOwn ? models.call : withListPrice(models.call);
      return { model, provider: models.providerOf(model), isOwn, call };
    }),
  );

// An organization pays its own provider itself.
const withListPrice =
  (call: Models["call"]): Models["call"] =>
  async (request) => {
    const issue = findPriceIssue(request.settings?.modelOptions);
    if (issue !== null) throw new ModelError(issue, { reason: "rejected", attempts: [] });
    return call(request);
  };

/** Every later call sends all answers again. Throws ModelError. */
function limitAnswers({ run, journal, tree }: Execution, reply: ModelReply): void {
  let bytes = 0;
  for (const text of textsOfCall(reply)) bytes += Buffer.byteLength(text);
  let ofTree = bytes;
  for (const each of tree.journals) ofTree += each.bytes.answers;
  const isAgentBeyond = run.kind === "agent" && journal.bytes.answers + bytes > MAX_ANSWERS_BYTES;
  if (!isAgentBeyond && ofTree <= MAX_TREE_OUTPUTS_BYTES) return;
  const most = isAgentBeyond ? MAX_ANSWERS_BYTES : MAX_TREE_OUTPUTS_BYTES;
  const { usage, attempts } = reply;
  throw new ModelError(`The model's answers are larger than ${most / MIB} MiB together.`, {
    reason: "rejected",
    attempts,
    received: { content: "", usage },
  });
}
