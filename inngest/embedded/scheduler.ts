import type { Pool, PoolClient } from "pg";
import type { Clock } from "@/server/clock";
import { newId } from "@/server/ids";
import { evaluateKey, holds } from "./expression";
import type {
  Answer,
  EngineEvent,
  EngineFunction,
  Operation,
  SentEvents,
  StepError,
  StepMemo,
} from "./protocol";
import {
  findUnfinished,
  findWaiting,
  finishRun,
  type GoOn,
  insertDiscovery,
  insertEvents,
  insertJobs,
  insertRuns,
  insertSteps,
  inTransaction,
  type Job,
  type LockedRun,
  lockRun,
  type NewJob,
  type NewRun,
  type NewStep,
  retryJob,
  takeJob,
  takeWaitingJob,
} from "./store";

/**
 * What happens next: events start, wake and cancel runs; the outcome of a call becomes the run's next jobs.
 *
 * Each function here is one transaction: whatever a step left behind is committed together with the job that follows,
 * or not at all. The outcome of a job is written only by the holder of its newest lease.
 */
export type Scheduler = {
  /** Takes events in; those whose id is known already start and wake nothing. Returns their ids in order. */
  send(events: SentEvents, idSeed: string | null): Promise<string[]>;
  /** Writes down what came of a call. False: the lease was lost, and nothing was written. */
  settle(job: Job, answer: Answer): Promise<boolean>;
  /** Ends a sleep or a wait whose time has come. False: something else ended it first. */
  expire(job: Job): Promise<boolean>;
  /** Cancels an unfinished run; false when it is finished or unknown. */
  cancel(runId: string): Promise<boolean>;
};

export type SchedulerOptions = {
  pool: Pool;
  clock: Clock;
  functions: ReadonlyMap<string, EngineFunction>;
  /** Milliseconds before attempt number `attempt` (1 is the first retry), when the error names none. */
  retryDelayMs(attempt: number): number;
};

const FUNCTION_FAILED = "inngest/function.failed";
const FUNCTION_INVOKED = "inngest/function.invoked";
const CANCEL_PAGE = 500;

/** Makes the scheduler over the tables that `pool` reaches. */
export function createScheduler({ pool, clock, functions, retryDelayMs }: SchedulerOptions): Scheduler {
  async function send(sent: SentEvents, idSeed: string | null): Promise<string[]> {
    const now = clock.now();
    const events = sent.map(
      (event, index): EngineEvent => ({
        ...event,
        // The SDK repeats a send whose answer it missed with the same seed: the same ids then make it one send.
        id: event.id || (idSeed === null ? newId() : `${idSeed}#${index}`),
        data: event.data ?? {},
        ts: event.ts ?? now.getTime(),
      }),
    );
    await inTransaction(pool, (tx) => takeIn(tx, events, now));
    return events.map((event) => event.id);
  }

  async function takeIn(tx: PoolClient, events: readonly EngineEvent[], now: Date): Promise<void> {
    const fresh = await insertEvents(tx, events, now);
    const unseen = events.filter((event) => fresh.delete(event.id));
    if (unseen.length === 0) return;
    await insertRuns(tx, unseen.flatMap(startedBy), now);
    // After the event is written, so that a wait committed before the send began is always seen.
    for (const waiting of await findWaiting(
      tx,
      unseen.map((event) => event.name),
    )) {
      const match = unseen.find(
        (event) =>
          event.name === waiting.eventName &&
          holds(waiting.condition, { event: waiting.event, async: event }),
      );
      if (match) await settleWaiting(tx, waiting, { type: "data", data: match }, now);
    }
    for (const event of unseen) await cancelOn(tx, event, now);
  }

  function startedBy(event: EngineEvent): NewRun[] {
    return [...functions.values()]
      .filter((fn) => fn.triggers.some((t) => t.event === event.name && holds(t.expression, { event })))
      .map((fn) => newRun(fn, event, null));
  }

  function newRun(fn: EngineFunction, event: EngineEvent, parent: NewRun["parent"]): NewRun {
    const limitKeys = fn.limits.map(
      ({ key }, index) => `${fn.id}:${index}:${key === undefined ? "" : evaluateKey(key, { event })}`,
    );
    return { id: newId(), functionId: fn.id, event, limitKeys, parent };
  }

  async function cancelOn(tx: PoolClient, event: EngineEvent, now: Date): Promise<void> {
    for (const fn of functions.values()) {
      const rules = fn.cancelOn.filter((rule) => rule.event === event.name);
      if (rules.length === 0) continue;
      for (let after: string | null = null; ; ) {
        const page = await findUnfinished(tx, fn.id, after, CANCEL_PAGE);
        for (const run of page) {
          const cancelled = rules.some(
            (rule) =>
              run.event.id !== event.id &&
              (rule.timeoutMs === null || now.getTime() <= run.createdAt.getTime() + rule.timeoutMs) &&
              holds(rule.if, { event: run.event, async: event }),
          );
          if (cancelled) await cancelIn(tx, run.id, now);
        }
        after = page.at(-1)?.id ?? null;
        if (page.length < CANCEL_PAGE) break;
      }
    }
  }

  async function cancelIn(tx: PoolClient, runId: string, now: Date): Promise<boolean> {
    const run = await lockRun(tx, runId);
    if (run === null) return false;
    const error = { name: "CancelledError", message: "The run was cancelled." };
    // Its jobs go with it: a call under way holds a lease on nothing, and stops at its next checkpoint.
    const parent = await finishRun(tx, run.id, "cancelled", error, now);
    if (parent) await settleWaiting(tx, parent, { type: "error", error }, now);
    return true;
  }

  async function settleWaiting(
    tx: PoolClient,
    { runId, stepId }: { runId: string; stepId: string },
    state: StepMemo,
    now: Date,
  ): Promise<void> {
    if ((await lockRun(tx, runId)) === null) return;
    const waiting = await takeWaitingJob(tx, runId, stepId);
    if (waiting === null) return;
    await insertSteps(tx, runId, [{ id: stepId, name: waiting.stepName, state }]);
    await insertDiscovery(tx, runId, waiting, now);
  }

  async function settle(job: Job, answer: Answer): Promise<boolean> {
    const now = clock.now();
    const retry = retryOf(job, answer);
    return inTransaction(pool, async (tx) => {
      const run = await lockRun(tx, job.runId);
      if (run === null) return false;
      if (retry !== null) {
        const dueAt = new Date(now.getTime() + (retry.inMs ?? retryDelayMs(job.attempt + 1)));
        if (!(await retryJob(tx, job, dueAt))) return false;
        await insertSteps(tx, run.id, retry.finished);
        return true;
      }
      const taken = await takeJob(tx, job);
      if (taken === null) return false;
      if (answer.type === "failed") await fail(tx, run, answer.error, now);
      else if (answer.type === "completed") await complete(tx, run, answer.output, now);
      else {
        const goesOn = await carryOut(tx, run, answer.operations, now);
        if (goesOn) await insertDiscovery(tx, run.id, goOnAfter(job, taken), now);
      }
      return true;
    });
  }

  /** Whether the call is made once more, and what it finished before it failed. */
  function retryOf(job: Job, answer: Answer): { inMs: number | null; finished: NewStep[] } | null {
    if (answer.type === "completed" || job.attempt + 1 >= maxAttemptsOf(job)) return null;
    if (answer.type === "failed") return answer.final ? null : { inMs: answer.retryInMs, finished: [] };
    if (!answer.operations.some((one) => one.type === "retry")) return null;
    return { inMs: answer.retryInMs, finished: finishedSteps(answer.operations) };
  }

  function maxAttemptsOf(job: Job): number {
    return functions.get(job.functionId)?.maxAttempts ?? 1;
  }

  /** Writes what a call reported, and the jobs it asked for, into a locked run; false when that ended the run. */
  async function carryOut(
    tx: PoolClient,
    run: LockedRun,
    operations: Operation[],
    now: Date,
  ): Promise<boolean> {
    await insertSteps(tx, run.id, finishedSteps(operations));
    const completion = operations.find((one) => one.type === "complete");
    if (completion) {
      await complete(tx, run, completion.output, now);
      return false;
    }
    const children: NewRun[] = [];
    const jobs: NewJob[] = [];
    const together = newId();
    for (const one of operations) {
      // The last attempt: what would have been tried again is a failed step, which the function may catch.
      if (one.type === "retry") await insertSteps(tx, run.id, [failedStep(one, one.error)]);
      const common = { stepId: one.id, stepName: one.name, cohort: one.race ? newId() : together };
      if (one.type === "plan") jobs.push({ ...common, kind: "step", dueInMs: 0 });
      if (one.type === "sleep") jobs.push({ ...common, kind: "sleep", dueInMs: one.ms });
      if (one.type === "wait") {
        const { eventName, condition, ms } = one;
        jobs.push({ ...common, kind: "event", dueInMs: ms, eventName, condition });
      }
      if (one.type === "invoke") {
        const fn = functions.get(one.functionId);
        if (fn === undefined) {
          const error = { name: "Error", message: `There is no function "${one.functionId}" to invoke.` };
          await insertSteps(tx, run.id, [failedStep(one, error)]);
          continue;
        }
        jobs.push({ ...common, kind: "invoke", dueInMs: one.ms });
        children.push(newRun(fn, invocation(one.payload, now), { runId: run.id, stepId: one.id }));
      }
    }
    await insertJobs(tx, run, jobs, now);
    await insertRuns(tx, children, now);
    return true;
  }

  async function complete(tx: PoolClient, run: LockedRun, output: unknown, now: Date): Promise<void> {
    const parent = await finishRun(tx, run.id, "completed", output, now);
    if (parent) await settleWaiting(tx, parent, { type: "data", data: output ?? null }, now);
  }

  async function fail(tx: PoolClient, run: LockedRun, error: StepError, now: Date): Promise<void> {
    const parent = await finishRun(tx, run.id, "failed", error, now);
    if (parent) await settleWaiting(tx, parent, { type: "error", error }, now);
    // In the same transaction: a run that failed has its onFailure started, whatever dies now.
    const data = { function_id: run.functionId, run_id: run.id, error, event: run.event };
    await takeIn(
      tx,
      [{ id: `${FUNCTION_FAILED}:${run.id}`, name: FUNCTION_FAILED, data, ts: now.getTime() }],
      now,
    );
  }

  async function expire(job: Job): Promise<boolean> {
    const now = clock.now();
    return inTransaction(pool, async (tx) => {
      const run = await lockRun(tx, job.runId);
      const taken = run && (await takeJob(tx, job));
      if (!taken) return false;
      const error = { name: "TimeoutError", message: `"${job.stepName}" took longer than its timeout.` };
      const state =
        job.kind === "invoke" ? ({ type: "error", error } as const) : ({ type: "data", data: null } as const);
      await insertSteps(tx, run.id, [{ id: job.stepId, name: job.stepName, state }]);
      await insertDiscovery(tx, run.id, taken, now);
      return true;
    });
  }

  return {
    send,
    settle,
    expire,
    cancel: (runId) => inTransaction(pool, (tx) => cancelIn(tx, runId, clock.now())),
  };
}

/** The steps among these operations that have ended, well or finally badly. */
export function finishedSteps(operations: readonly Operation[]): NewStep[] {
  return operations.flatMap(({ id, name, ...one }) =>
    one.type === "finished" ? [{ id, name, state: one.memo }] : [],
  );
}

/** After a discovery: when it planned nothing, or was overtaken. After a step: when its cohort is complete. */
function goOnAfter(job: Job, taken: { cohort: string; again: boolean }): GoOn {
  if (job.kind !== "discover") return taken;
  return taken.again ? "now" : "when idle";
}

function failedStep({ id, name }: Operation, error: StepError): NewStep {
  return { id, name, state: { type: "error", error } };
}

function invocation(payload: Record<string, unknown>, now: Date): EngineEvent {
  return { ...payload, id: newId(), name: FUNCTION_INVOKED, data: payload.data ?? {}, ts: now.getTime() };
}
