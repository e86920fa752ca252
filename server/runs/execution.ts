import { type Decimal, ZERO } from "@/server/credits/amount";
import {
  COVERED_OUTPUT_TOKENS,
  creditsOfTokens,
  outputTokensFor,
  type PriceList,
  WANTED_OUTPUT_TOKENS,
} from "@/server/credits/prices";
import { type Attempt, ModelError, type ModelReply, type ModelRequest } from "@/server/models/port";
import { replaceNul } from "@/server/secrets/stored-output";
import type { Services } from "@/server/services";
import {
  beginModelCall,
  finishModelCall,
  noteAttempts,
  noteText,
  type StoredModelCall,
  type StoredStep,
} from "./journal";
import type { ClaimedRun } from "./lifecycle";
import { CapReached, CreditsExhausted, exactly, type Purse } from "./purse";
import { keepUnfinishedText } from "./unfinished-text";

/**
 * Runs a named piece of work durably: the engine remembers that it has finished, the run's rows remember with what.
 * Children and tests pass one that just runs it.
 */
export type Durably = (name: string, work: () => Promise<void>) => Promise<void>;

/** Everything that the execution of one run shares. */
export type Execution = {
  services: Services;
  run: ClaimedRun;
  signal: AbortSignal;
  purse: Purse;
  modelCalls: Map<string, StoredModelCall>;
  steps: Map<string, StoredStep>;
  /** By key, the tries of steps and model calls that an earlier worker began and did not finish. */
  interrupted: Map<string, Attempt[]>;
  durably: Durably;
  /** Claims a child run and executes it to its end, in this worker and on this run's purse. */
  runChild(childRunId: string): Promise<void>;
};

/**
 * Calls a model on the run's account: a finished call is returned from its row; else the hold is made to cover it,
 * the call is made within that cover, and reply, usage and price are committed in one statement.
 * `signal` ends the call earlier than the run's own would.
 * Throws CreditsExhausted, CapReached, ModelError, RunLost, or the signal's reason.
 */
export async function callModel(
  execution: Execution,
  key: string,
  iteration: number,
  request: Omit<ModelRequest, "signal" | "maxOutputTokens"> & { maxOutputTokens?: number },
  signal: AbortSignal = execution.signal,
): Promise<StoredModelCall> {
  const stored = execution.modelCalls.get(key);
  if (stored !== undefined) return stored;
  const { services, run, purse } = execution;
  const provider = services.models.providerOf(request.model);
  const cover = await coverCall(execution, request, provider);
  const earlier = execution.interrupted.get(key) ?? [];
  await beginModelCall(services, run, { key, iteration, provider, model: request.model, attempts: earlier });
  let reply: ModelReply;
  const said = keepUnfinishedText((text) => noteText(services, run, key, text));
  try {
    // A signal of the call's own: what a client hangs onto it goes with the call, not with the run.
    const own = AbortSignal.any([signal]);
    const call = services.models.call({
      ...request,
      maxOutputTokens: cover.maxOutputTokens,
      signal: own,
      onText: said.note,
      onRetry: (attempts) => noteAttempts(services, run, "model_calls", key, [...earlier, ...attempts]),
    });
    reply = await call.finally(said.close);
  } catch (error) {
    await purse.spend(cover.reserved, ZERO);
    if (error instanceof ModelError) {
      await finishModelCall(services, run, key, {
        error: error.message,
        attempts: [...earlier, ...error.attempts],
      });
    } else if (signal.aborted && !execution.signal.aborted) {
      // Only this call's time is up; the run goes on without it.
      const message = error instanceof Error ? error.message : String(error);
      await finishModelCall(services, run, key, { error: message, attempts: earlier });
    }
    throw error;
  }
  reply.content = replaceNul(reply.content);
  reply.attempts.unshift(...earlier);
  reply.toolCalls = reply.toolCalls.map((call) => ({
    id: replaceNul(call.id),
    name: replaceNul(call.name),
    arguments: replaceNul(call.arguments),
  }));
  const price = priceOfReply(run.prices, request.model, provider, reply);
  const credits = await purse.spend(cover.reserved, price);
  await finishModelCall(services, run, key, { reply, credits });
  run.creditsUsed = run.creditsUsed.add(credits);
  const { content, toolCalls, usage } = reply;
  const finished = { key, content, toolCalls, usage };
  execution.modelCalls.set(key, finished);
  return finished;
}

/** The demo model is a simulation and free. */
function priceOfReply(prices: PriceList, model: string, provider: string, reply: ModelReply): Decimal {
  return provider === "demo" ? ZERO : creditsOfTokens(prices, model, reply.usage);
}

/**
 * Sets aside what a call may cost. As a rule a quick bound of the prompt and all the output that is wanted fit into cap and
 * balance; where they don't, the prompt is counted, and the call's output limit is what the cover leaves for it.
 */
async function coverCall(
  { services, run, purse }: Execution,
  request: Pick<ModelRequest, "model" | "messages" | "tools"> & { maxOutputTokens?: number },
  provider: string,
): Promise<{ reserved: Decimal; maxOutputTokens: number }> {
  const limit = request.maxOutputTokens ?? WANTED_OUTPUT_TOKENS;
  if (provider === "demo") return { reserved: ZERO, maxOutputTokens: limit };
  const priceFor = (inputTokens: number, outputTokens: number) =>
    creditsOfTokens(run.prices, request.model, { inputTokens, outputTokens });

  const ample = priceFor(services.models.boundTokens(request), limit);
  const reserved = await purse.reserve(exactly(ample)).catch((error: unknown) => {
    if (error instanceof CapReached || error instanceof CreditsExhausted) return null;
    throw error;
  });
  if (reserved !== null) return { reserved, maxOutputTokens: limit };

  const inputTokens = await services.models.countTokens(request);
  const scarce = await purse.reserve({
    least: priceFor(inputTokens, 1),
    minimum: priceFor(inputTokens, Math.min(limit, COVERED_OUTPUT_TOKENS)),
    wanted: priceFor(inputTokens, limit),
  });
  const affordable = outputTokensFor(run.prices, request.model, scarce, inputTokens);
  return { reserved: scarce, maxOutputTokens: Math.max(1, Math.min(limit, affordable)) };
}
