import { ZERO } from "@/server/credits/amount";
import { creditsOfActions } from "@/server/credits/prices";
import { retryWhileUnavailable } from "@/server/db/outage";
import type { CarriedSecret } from "@/server/egress/outgoing-request";
import type { FunctionContext } from "@/server/functions/define";
import { executeFunction } from "@/server/functions/execute";
import { codeOfFailure, isFinal } from "@/server/functions/function-error";
import type { Json, JsonObject } from "@/server/json/json";
import { limitRecipients } from "@/server/mail/limit-recipients";
import { CapReached, CreditsExhausted, exactly } from "@/server/runs/engine/execute/budget";
import type { Execution } from "@/server/runs/engine/execute/execution";
import { pauseAt } from "@/server/runs/engine/pause-points";
import type { BegunStep, FinishedStep } from "@/server/runs/engine/write/journal";
import type { StepResult } from "@/server/runs/engine/write/journal-rows";
import { WorkerLost } from "@/server/runs/engine/write/writer";
import type { Redact } from "@/server/secrets/redact";
import { redactJson, replaceNul, storeOutput } from "@/server/secrets/stored-output";
import { sleepOrThrow } from "@/server/sleep";
import { readKeyValue, writeKeyValue } from "@/server/values/key-values";
import { type RetryPolicy, retryWaitMs } from "@/server/workflow/retry-policy";
import { callModel } from "./call-model";

export type FunctionCall = {
  key: string;
  iteration: number;
  name: string;
  input: JsonObject;
  retries: RetryPolicy;
  timeoutMs?: number | undefined;
  defaultModel: string;
  /**
   * Who reads the output. If it is too large, an agent's model gets a preview, and a workflow's step fails with a code.
   */
  reader: "agent" | "workflow";
};

/** What a call returned, or why it failed. */
export type CallOutcome = { text: string } | { error: string; code: string };

/** The outcome of a call that threw. */
export function failureOf(error: unknown, redact: Redact): Extract<CallOutcome, { error: string }> {
  const message = error instanceof Error ? error.message : String(error);
  return { error: replaceNul(redact(message)), code: codeOfFailure(error) };
}

/** An output as it is stored: redacted JSON text that fits, or the failure of one that does not. */
export async function storedOutput(
  output: Json,
  reader: FunctionCall["reader"],
  redact?: Redact,
): Promise<CallOutcome> {
  const stored = await storeOutput(output, reader === "agent" ? "cut" : "refuse", redact);
  return "text" in stored ? stored : { error: stored.error, code: "output_too_large" };
}

/** The result of a step that made a call. */
function stepResult(
  outcome: CallOutcome,
  { reader }: Pick<FunctionCall, "reader">,
): Omit<StepResult, "credits"> {
  if ("text" in outcome) return { output: outcome.text, error: null, actions: 1 };
  const { error, code } = outcome;
  const output = JSON.stringify(reader === "agent" ? { error } : { error, code });
  return { output, error, actions: 1 };
}

/**
 * Executes one function as a step that has begun: retries it, records every attempt and pays one action. Errors of the
 * function are its result; only what ends the whole run is thrown.
 */
export function callFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
): Promise<FinishedStep> {
  return payForAction(execution, begun, { call, work: () => attemptFunction(execution, call, begun) });
}

/** Finishes a step with the outcome of `work`, and pays one action; nothing if `work` throws. */
export async function payForAction(
  { run, budget, signal, journal }: Execution,
  begun: BegunStep,
  { call, work }: { call: Pick<FunctionCall, "reader">; work: () => Promise<CallOutcome> },
): Promise<FinishedStep> {
  const price = creditsOfActions(run.prices, 1);
  const reserved = await budget.reserve(exactly(price));
  const outcome = await work().catch(async (error: unknown) => {
    // A tool that ends at its cap returns what it had reserved to its caller.
    await budget.spend(reserved, ZERO);
    throw error;
  });
  const credits = await budget.spend(reserved, price);
  await pauseAt("act:after");
  signal.throwIfAborted();
  return journal.finishStep(begun, { ...stepResult(outcome, call), credits });
}

async function attemptFunction(
  execution: Execution,
  call: FunctionCall,
  begun: BegunStep,
): Promise<CallOutcome> {
  const { services, worker, signal, journal, secrets } = execution;
  const { redact } = secrets;
  for (let attempt = 1; ; attempt += 1) {
    const opened = await retryWhileUnavailable(() => secrets.open(call.name, call.input), signal);
    const startedAt = services.clock.now();
    const lines: string[] = [];
    const record = (error: string | null, waitMs?: number) => {
      const now = services.clock.now().getTime();
      const durationMs = now - startedAt.getTime();
      const next = waitMs === undefined ? {} : { retryAt: new Date(now + waitMs).toISOString() };
      const output = lines.length === 0 ? {} : { console: lines };
      begun.attempts.push({ startedAt: startedAt.toISOString(), durationMs, error, ...next, ...output });
    };
    if ("refused" in opened) {
      record(opened.refused);
      return { error: opened.refused, code: "secret_refused" };
    }
    try {
      const context = contextOf(execution, { call, attempt, lines, carried: opened.carried });
      // The time limit does not include waiting for the database.
      await worker.confirm();
      const output = await executeFunction(call.name, call.input, context, call.timeoutMs);
      const stored = await storedOutput(output, call.reader, redact);
      record("error" in stored ? stored.error : null);
      return stored;
    } catch (error) {
      if (error instanceof WorkerLost || error instanceof CreditsExhausted || error instanceof CapReached)
        throw error;
      signal.throwIfAborted();
      const failure = failureOf(error, redact);
      if (attempt > call.retries.count || isFinal(failure.code)) {
        record(failure.error);
        return failure;
      }
      const waitMs = retryWaitMs(call.retries, attempt);
      record(failure.error, waitMs);
      journal.showProgress(begun, { attempts: begun.attempts });
      await sleepOrThrow(waitMs, signal);
    }
  }
}

/** What a function may use during one attempt of a call. */
function contextOf(
  execution: Execution,
  {
    call,
    attempt,
    lines,
    carried,
  }: { call: FunctionCall; attempt: number; lines: string[]; carried: CarriedSecret[] },
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
    print: (printed) => void lines.push(...printed.map((line) => replaceNul(redact(line)))),
  };
}
