import { ZERO } from "@/server/credits/amount";
import { creditsOfActions } from "@/server/credits/prices";
import { executeFunction } from "@/server/functions/execute";
import type { Json } from "@/server/json";
import type { Attempt } from "@/server/models/port";
import { replaceNul, storeOutput } from "@/server/secrets/stored-output";
import { callModel, type Execution } from "./execution";
import { finishStep, noteAttempts, RunLost, type StoredStep } from "./journal";
import { CapReached, CreditsExhausted, exactly } from "./purse";

/** First wait between tries of a step; doubles each time, up to the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

export type FunctionCall = {
  key: string;
  stepNumber: number;
  iteration: number;
  name: string;
  input: Json;
  retries: number;
  timeoutMs?: number | undefined;
  defaultModel: string;
};

/** What to store of an output: JSON text that fits, or the reason why it does not. */
export type Store = (output: Json) => { text: string } | { error: string };

/** For agents: an output that is too large is cut to a preview, which is what the model sees too. */
export const storeCut: Store = (output) => storeOutput(output, "cut");

/** For workflows, which compute with outputs: one that is too large fails its step. */
export const storeWhole: Store = (output) => storeOutput(output, "refuse");

/**
 * Executes one function as a step whose row has begun: tries, records every try, pays one action, and commits the
 * result. Errors of the function are its result; only what ends the whole run is thrown.
 */
export async function callFunction(
  execution: Execution,
  call: FunctionCall,
  store: Store,
): Promise<StoredStep> {
  const { services, run, purse, signal } = execution;
  const price = creditsOfActions(run.prices, 1);
  const reserved = await purse.reserve(exactly(price));
  const attempts = [...(execution.interrupted.get(call.key) ?? [])];
  const result = await tryFunction(execution, call, attempts, store).catch(async (error: unknown) => {
    // A tool that ends at its cap gives back to its caller what it had set aside.
    await purse.spend(reserved, ZERO);
    throw error;
  });
  const credits = await purse.spend(reserved, price);
  signal.throwIfAborted();
  const failed = "error" in result;
  const output = failed ? JSON.stringify({ error: result.error }) : result.text;
  const error = failed ? result.error : null;
  await finishStep(services, run, call.key, { output, error, actions: 1, credits, attempts });
  run.creditsUsed = run.creditsUsed.add(credits);
  const finished = { key: call.key, stepNumber: call.stepNumber, output, failed };
  execution.steps.set(call.key, finished);
  return finished;
}

async function tryFunction(
  execution: Execution,
  call: FunctionCall,
  attempts: Attempt[],
  store: Store,
): Promise<{ text: string } | { error: string }> {
  const { services, run, signal } = execution;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = services.clock.now();
    const record = (error: string | null, waitMs?: number) => {
      const now = services.clock.now().getTime();
      const durationMs = now - startedAt.getTime();
      const next = waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() };
      attempts.push({ startedAt: startedAt.toISOString(), durationMs, error, ...next });
    };
    try {
      let modelCalls = 0;
      const output = await executeFunction(
        call.name,
        call.input,
        {
          signal,
          clock: services.clock,
          fetch: services.fetch,
          idempotencyKey: `${run.id}:${call.key}`,
          organizationId: run.orgId,
          defaultModel: call.defaultModel,
          callModel: async (request, within) => {
            modelCalls += 1;
            return callModel(
              execution,
              `${call.key}/model-${attempt}-${modelCalls}`,
              call.iteration,
              request,
              within,
            );
          },
        },
        call.timeoutMs,
      );
      const stored = store(output);
      record("error" in stored ? stored.error : null);
      return stored;
    } catch (error) {
      if (error instanceof RunLost || error instanceof CreditsExhausted || error instanceof CapReached)
        throw error;
      signal.throwIfAborted();
      const message = replaceNul(error instanceof Error ? error.message : String(error));
      if (attempt > call.retries) {
        record(message);
        return { error: message };
      }
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
      record(message, waitMs);
      await noteAttempts(services, run, "steps", call.key, attempts);
      await wait(waitMs, signal);
    }
  }
}

/** Waits, or throws the signal's reason as soon as it fires. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
