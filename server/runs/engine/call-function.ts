import { ZERO } from "@/server/credits/amount";
import { creditsOfActions } from "@/server/credits/prices";
import type { EgressInit } from "@/server/egress/outgoing-request";
import { executeFunction } from "@/server/functions/execute";
import type { Json, JsonObject } from "@/server/json";
import type { Redact } from "@/server/secrets/redact";
import { redactJson, replaceNul, storeOutput } from "@/server/secrets/stored-output";
import { CapReached, CreditsExhausted, exactly } from "./budget";
import { callModel } from "./call-model";
import type { Execution } from "./execution";
import type { BegunStep, FinishedStep } from "./journal";
import { pauseAt } from "./pause-points";
import { wait } from "./wait";
import { WorkerLost } from "./writer";

/** First wait between attempts of a step; doubles each time, up to the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

export type FunctionCall = {
  key: string;
  iteration: number;
  name: string;
  input: JsonObject;
  retries: number;
  timeoutMs?: number | undefined;
  defaultModel: string;
};

/** What to store of an output: JSON text that fits, redacted, or the reason why it does not. */
export type Store = (output: Json, redact?: Redact) => { text: string } | { error: string };

/** For agents: an output that is too large is cut to a preview, which is what the model sees too. */
export const storeCut: Store = (output, redact) => storeOutput(output, "cut", redact);

/** For workflows, which compute with outputs: one that is too large fails its step. */
export const storeWhole: Store = (output, redact) => storeOutput(output, "refuse", redact);

/**
 * Executes one function as a step that has begun: retries it, records every attempt and pays one action. Errors of the
 * function are its result; only what ends the whole run is thrown.
 */
export async function callFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
  store: Store,
): Promise<FinishedStep> {
  const { run, budget, signal, journal } = execution;
  const price = creditsOfActions(run.prices, 1);
  const reserved = await budget.reserve(exactly(price));
  const result = await attemptFunction(execution, call, begun, store).catch(async (error: unknown) => {
    // A tool that ends at its cap returns what it had reserved to its caller.
    await budget.spend(reserved, ZERO);
    throw error;
  });
  const credits = await budget.spend(reserved, price);
  await pauseAt("act:after");
  signal.throwIfAborted();
  const failed = "error" in result;
  await pauseAt("act:after");
  return journal.finishStep(begun, {
    output: failed ? JSON.stringify({ error: result.error }) : result.text,
    error: failed ? result.error : null,
    actions: 1,
    credits,
  });
}

async function attemptFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
  store: Store,
): Promise<{ text: string } | { error: string }> {
  const { services, worker, run, signal, journal, secrets } = execution;
  const { redact } = secrets;
  for (let attempt = 1; ; attempt += 1) {
    const opened = await secrets.open(call.name, call.input);
    const startedAt = services.clock.now();
    const record = (error: string | null, waitMs?: number) => {
      const now = services.clock.now().getTime();
      const durationMs = now - startedAt.getTime();
      const next = waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() };
      begun.attempts.push({ startedAt: startedAt.toISOString(), durationMs, error, ...next });
    };
    if ("refused" in opened) {
      record(opened.refused);
      return { error: opened.refused };
    }
    try {
      let modelCalls = 0;
      const context = {
        signal,
        clock: services.clock,
        fetch: (address: string | URL, init?: EgressInit) =>
          services.fetch(address, { ...init, secrets: opened.carried }, worker),
        redact: (value: Json) => redactJson(value, redact),
        idempotencyKey: `${run.id}:${call.key}`,
        organizationId: run.orgId,
        defaultModel: call.defaultModel,
        callModel: (request: Parameters<typeof callModel>[1]["request"], within?: AbortSignal) => {
          modelCalls += 1;
          const key = `${call.key}/model-${attempt}-${modelCalls}`;
          return callModel(execution, { key, iteration: call.iteration, request }, within);
        },
      };
      // Waiting for the database is not the function's time.
      await worker.confirm();
      const stored = store(await executeFunction(call.name, call.input, context, call.timeoutMs), redact);
      record("error" in stored ? stored.error : null);
      return stored;
    } catch (error) {
      if (error instanceof WorkerLost || error instanceof CreditsExhausted || error instanceof CapReached)
        throw error;
      signal.throwIfAborted();
      const message = replaceNul(redact(error instanceof Error ? error.message : String(error)));
      if (attempt > call.retries) {
        record(message);
        return { error: message };
      }
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
      record(message, waitMs);
      journal.showProgress(begun, { attempts: begun.attempts });
      await wait(waitMs, signal);
    }
  }
}
