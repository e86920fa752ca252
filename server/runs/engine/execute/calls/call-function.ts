import { retryWhileUnavailable } from "@/server/db/outage";
import type { CarriedSecret } from "@/server/egress/outgoing-request";
import type { FunctionContext } from "@/server/functions/define";
import { executeFunction } from "@/server/functions/execute";
import type { JsonObject } from "@/server/json/json";
import { limitRecipients } from "@/server/mail/limit-recipients";
import { CapReached, CreditsExhausted } from "@/server/runs/engine/execute/budget";
import type { Execution } from "@/server/runs/engine/execute/execution";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import { redactJson, replaceNul } from "@/server/secrets/stored-output";
import { readKeyValue, writeKeyValue } from "@/server/values/key-values";
import type { RetryPolicy } from "@/server/workflow/retry-policy";
import {
  type ActionOutcome,
  failureOf,
  isRetried,
  payForAction,
  type Reader,
  recordAttempt,
  storedOutput,
  waitForRetry,
} from "./action";
import { callModel } from "./call-model";

export type FunctionCall = {
  key: string;
  iteration: number;
  name: string;
  input: JsonObject;
  retries: RetryPolicy;
  timeoutMs?: number | undefined;
  defaultModel: string;
  reader: Reader;
};

/**
 * Executes one function as a step that has begun: retries it, records every attempt and pays one action. Errors of the
 * function are its result; only what ends the whole run is thrown.
 */
export function callFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
): Promise<FinishedStep> {
  return payForAction(execution, begun, {
    reader: call.reader,
    work: () => attemptFunction(execution, call, begun),
  });
}

async function attemptFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
): Promise<ActionOutcome> {
  const { services, worker, signal, secrets } = execution;
  const { redact } = secrets;
  for (let attempt = 1; ; attempt += 1) {
    const opened = await retryWhileUnavailable(() => secrets.open(call.name, call.input), signal);
    const startedAt = services.clock.now();
    const printed: string[] = [];
    if ("refused" in opened) {
      recordAttempt(execution, begun, { startedAt, error: opened.refused });
      return { error: opened.refused, code: "secret_refused" };
    }
    try {
      const context = contextOf(execution, { call, attempt, printed, carried: opened.carried });
      // The time limit does not include waiting for the database.
      await worker.confirm();
      const output = await executeFunction(call.name, {
        input: call.input,
        context,
        timeoutMs: call.timeoutMs,
      });
      const stored = await storedOutput(output, call.reader, redact);
      const error = "error" in stored ? stored.error : null;
      recordAttempt(execution, begun, { startedAt, error, printed });
      return stored;
    } catch (error) {
      if (error instanceof WorkerLost || error instanceof CreditsExhausted || error instanceof CapReached)
        throw error;
      signal.throwIfAborted();
      const failure = failureOf(error, redact);
      const ended = { startedAt, error: failure.error, printed };
      if (!isRetried(call.retries, attempt, failure)) {
        recordAttempt(execution, begun, ended);
        return failure;
      }
      await waitForRetry(execution, begun, { ...ended, retries: call.retries, attempt });
    }
  }
}

/** What a function may use during one attempt of a call. */
function contextOf(
  execution: Execution,
  {
    call,
    attempt,
    printed,
    carried,
  }: { call: FunctionCall; attempt: number; printed: string[]; carried: CarriedSecret[] },
): FunctionContext {
  const { services, worker, run, signal, secrets } = execution;
  const { redact } = secrets;
  const idempotencyKey = `${run.id}:${call.key}`;
  let modelCalls = 0;
  return {
    signal,
    clock: services.clock,
    fetch: (address, init) =>
      services.fetch(address, { ...init, secrets: carried, organizationId: run.orgId }, worker),
    redact: (value) => redactJson(value, redact),
    idempotencyKey,
    organizationId: run.orgId,
    defaultModel: call.defaultModel,
    callModel: (request, within) => {
      modelCalls += 1;
      const key = `${call.key}/model-${attempt}-${modelCalls}`;
      return callModel(execution, { key, iteration: call.iteration, request }, within);
    },
    values: {
      get: (key) => readKeyValue(services, run.orgId, key),
      set: (value) => writeKeyValue(services, run.orgId, { ...value, call: idempotencyKey }),
    },
    sendMail: limitRecipients(services, run.orgId),
    print: (lines) => void printed.push(...lines.map((line) => replaceNul(redact(line)))),
  };
}
