import { isTransient, rejectsWrites, retryWhileUnavailable } from "@/server/base/db/outage";
import { traceParentOf } from "@/server/base/trace-context";
import type { CarriedSecret } from "@/server/guard/egress/outgoing-request";
import { limitRecipients } from "@/server/guard/mail/limit-recipients";
import { redactJson, replaceNul } from "@/server/guard/secrets/stored-output";
import { LimitReached } from "@/server/runs/engine/interruptions";
import { readKeyValue, writeKeyValue } from "@/server/runs/values/key-values";
import { codeOfFailure, type FunctionContext, FunctionError } from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import { WorkerLost } from "../../write/writer";
import type { Execution } from "../execution";
import { callModel } from "./call-model";
import { type StepAttempt, type StepCall, type StepOutcome, storedOutput } from "./perform-step";

/** Executes a function once. Its errors become FunctionErrors; only what ends the whole run is thrown as it is. */
export async function attemptFunction(
  execution: Execution,
  call: StepCall,
  attempt: StepAttempt,
): Promise<StepOutcome> {
  const { services, worker, signal, secrets } = execution;
  const { toolName: name, args: input, timeoutMs } = call;
  const opened = await retryWhileUnavailable(() => secrets.open(name, input), signal);
  attempt.startedAt = services.clock.now();
  if ("rejected" in opened) return { error: opened.rejected, code: "secret_rejected" };
  const modelCalls: Promise<unknown>[] = [];
  const databaseCalls = new DatabaseCalls();
  try {
    const calls = { carried: opened.carried, modelCalls, databaseCalls };
    const context = contextOf(execution, call, { attempt, ...calls });
    // The time limit does not include waiting for the database.
    await worker.confirm();
    const output = await executeFunction(name, { input, context, timeoutMs });
    return await storedOutput(execution.run.kind, output, secrets);
  } catch (error) {
    if (error instanceof WorkerLost || error instanceof LimitReached) throw error;
    signal.throwIfAborted();
    await databaseCalls.throwOutage(error);
    throw new FunctionError(codeOfFailure(error), error instanceof Error ? error.message : String(error));
  } finally {
    // A call that was stopped still charges its partial output, which must precede the run's end.
    await Promise.allSettled(modelCalls);
    call.memory.releaseBodies();
  }
}

/** The database calls of one attempt. They wait while the database is unavailable. */
class DatabaseCalls {
  readonly #calls: Promise<unknown>[] = [];
  #outage: Error | undefined;

  readonly retry: typeof retryWhileUnavailable = (work, signal) => {
    const call = retryWhileUnavailable(
      () =>
        work().catch((error: unknown) => {
          if (error instanceof Error && (isTransient(error) || rejectsWrites(error))) this.#outage = error;
          throw error;
        }),
      signal,
    );
    this.#calls.push(call);
    return call;
  };

  /** Throws the database's error if the function failed with it, or its time was up because of it. */
  async throwOutage(failure: unknown): Promise<void> {
    await Promise.allSettled(this.#calls);
    if (this.#outage === undefined) return;
    if (failure === this.#outage || codeOfFailure(failure) === "timeout") throw this.#outage;
  }
}

function contextOf(
  execution: Execution,
  call: StepCall,
  {
    attempt,
    carried,
    modelCalls,
    databaseCalls: { retry },
  }: {
    attempt: StepAttempt;
    carried: CarriedSecret[];
    modelCalls: Promise<unknown>[];
    databaseCalls: DatabaseCalls;
  },
): FunctionContext {
  const { services, worker, run, signal, secrets } = execution;
  const { configuration, orgId } = run;
  const { redact } = secrets;
  const idempotencyKey = `${run.id}:${call.key}`;
  return {
    signal,
    clock: services.clock,
    fetch: (address, init) =>
      services.fetch(
        address,
        {
          ...init,
          secrets: carried,
          organizationId: orgId,
          holdResponse: (bytes) => call.memory.holdResponse(bytes),
        },
        worker,
      ),
    redact: (value) => redactJson(value, secrets),
    idempotencyKey,
    traceParent: services.env.traces === undefined ? null : traceParentOf(run, call.key),
    organizationId: orgId,
    memory: call.memory,
    defaultModel: configuration.kind === "agent" ? configuration.model : services.env.defaultModel,
    callModel: (request, within) => {
      const key = `${call.key}/model-${attempt.number}-${modelCalls.length + 1}`;
      const { iteration, memory } = call;
      const calling = callModel(execution, { key, iteration, request, memory }, within);
      modelCalls.push(calling);
      return calling;
    },
    values: {
      get: (key, within) => retry(() => readKeyValue(services, orgId, key), within),
      set: (value, within) => {
        const write = { ...value, call: idempotencyKey, signal: within };
        return retry(() => writeKeyValue(services, orgId, write), within);
      },
    },
    sendMail: limitRecipients(services, orgId, retry),
    print: (lines) => void attempt.printed.push(...lines.map((line) => replaceNul(redact(line)))),
    note: (text) => void attempt.notes.add(text),
  };
}
