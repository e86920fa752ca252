import type { Inngest, InngestFunction } from "inngest";
import { serve } from "inngest/edge";
import type { ClientConfig, Pool } from "pg";
import type { Clock } from "@/server/clock";
import { outlast } from "@/server/db/outage";
import type { Logger } from "@/server/log";
import { createDoorbell } from "./doorbell";
import { compileExpression } from "./expression";
import { releaseLeases, saveCheckpoint } from "./leases";
import {
  type Answer,
  buildCall,
  buildSync,
  type Checkpoint,
  describeError,
  type EngineFunction,
  readAnswer,
  readFunctions,
  readOperations,
} from "./protocol";
import { type Assignment, createQueue } from "./queue";
import { createScheduler, finishedSteps } from "./scheduler";
import { findRunsOfEvent, isUnfinished, type Job, prune, type RunStatus } from "./store";
import { createTransport } from "./transport";

/**
 * A durable engine for unmodified Inngest functions, inside this process and its Postgres.
 *
 * Guarantees, each kept by the code named and tried by engine.db.test.ts:
 * - A step whose result was saved never runs again; the step in flight when a process dies runs again (leases.ts).
 * - A step's result and the job that follows are one transaction (scheduler.ts).
 * - A process that lost its lease can write nothing (`generation`, leases.ts and store.ts).
 * - A run that was started goes on while any process runs: leases of the dead end after `leaseMs`, and are found
 *   within `pollMs` more (queue.ts).
 * - An event id starts its runs once, as long as ids are kept (`eventIdsMs`).
 */
export type EmbeddedEngine = {
  /** For `new Inngest({ fetch: engine.fetch, isDev: true, baseUrl: "http://engine.local" })`. */
  fetch: typeof fetch;
  /**
   * Hands over the functions to run. Once, before `start` and before the first event is sent.
   * @throws Error naming a function and each option of it that this engine does not implement.
   */
  register(client: Inngest.Any, functions: readonly InngestFunction.Any[]): Promise<void>;
  /** Starts to claim and run jobs. A process that only sends events need not start. */
  start(): Promise<void>;
  /**
   * Stops claiming at once; calls under way go on to their next checkpoint, for up to `graceMs`. What is then still
   * unfinished is given back, so that another process takes over at once. The pool stays open.
   */
  stop(graceMs?: number): Promise<void>;
  /** Whether the engine runs and reaches its database. */
  ready(): Promise<boolean>;
  /** Whether this process performs as many jobs as it may: more would wait. */
  full(): boolean;
  /** Cancels an unfinished run by the engine's id; its onFailure is not called. False when there is no such run. */
  cancelRun(runId: string): Promise<boolean>;
  /** Whether this run is unfinished, by the engine's id. */
  isRunning(runId: string): Promise<boolean>;
  /** The runs that an event started, as far as they are remembered: finished ones for `finishedRunsMs`. */
  findRuns(eventId: string): Promise<RunStatus[]>;
};

export type EmbeddedEngineOptions = {
  pool: Pool;
  /** How to reach the same database with a connection of one's own, for LISTEN. */
  listenConfig: ClientConfig;
  clock: Clock;
  log: Logger;
  /** Jobs performed at a time in this process. */
  concurrency?: number;
  /** How long a job stays with a process that shows no sign of life. */
  leaseMs?: number;
  /** How often to look for work that nobody announced. */
  pollMs?: number;
  /** How long finished runs and their steps are kept. */
  finishedRunsMs?: number;
  /** How long the ids of events are kept, to recognise one that is sent twice. */
  eventIdsMs?: number;
  /** Milliseconds before retry number `attempt`, counted from 1, when the error names no time itself. */
  retryDelayMs?: (attempt: number) => number;
};

const DAY_MS = 24 * 3_600_000;
const PRUNE_EVERY_MS = 600_000;
const PRUNE_ROWS = 1_000;

/** Seconds, then minutes: 1 s, 4 s, 16 s, 64 s … up to 10 minutes, each up to a quarter longer. */
function backOff(attempt: number): number {
  return Math.min(1_000 * 4 ** (attempt - 1), 600_000) * (1 + Math.random() / 4);
}

/** Makes an engine over the tables of the schema `engine`; nothing runs before `start`. */
export function createEmbeddedEngine(options: EmbeddedEngineOptions): EmbeddedEngine {
  const { pool, listenConfig, clock, concurrency = 20, leaseMs = 15_000, pollMs = 5_000 } = options;
  const { finishedRunsMs = DAY_MS, eventIdsMs = DAY_MS, retryDelayMs = backOff } = options;
  const log = options.log.child({ component: "engine" });
  const functions = new Map<string, EngineFunction>();
  let handler: ((request: Request) => Promise<Response>) | null = null;
  let registration: Promise<void> | null = null;
  let started = false;
  let pruning: NodeJS.Timeout | undefined;
  /** Aborted when the process has waited long enough: what still tries to reach the database gives up. */
  const end = new AbortController();

  const scheduler = createScheduler({ pool, clock, functions, retryDelayMs });
  const queue = createQueue({ pool, clock, log, functions, concurrency, leaseMs, pollMs, perform });
  const doorbell = createDoorbell({ pool, listenConfig, log, onRing: queue.wake });
  let listening: Promise<void> = Promise.resolve();

  // An idle connection that breaks emits 'error' on the pool; heard by nobody, it would end the process.
  if (pool.listenerCount("error") === 0)
    pool.on("error", (error) => log.debug("an idle connection broke", { error }));

  /** There may be work that this process is not about to claim. */
  function announce(): void {
    queue.wake();
    doorbell.ring();
  }

  async function checkpoint({ qi_id: id, generation_id: generation, steps }: Checkpoint): Promise<boolean> {
    const finished = finishedSteps(readOperations(steps, clock.now()));
    if (finished.length !== steps.length)
      throw new Error("A checkpoint holds something else than finished steps.");
    const held = await outlast(() => saveCheckpoint(pool, { id, generation }, finished), end.signal);
    if (!held || !queue.stopping()) return held;
    // The step is safe and this process is leaving: whoever takes the job now goes on behind it.
    await outlast(() => releaseLeases(pool, [{ id, generation }], clock.now()), end.signal);
    doorbell.ring();
    return false;
  }

  async function perform(assignment: Assignment): Promise<void> {
    const { job } = assignment;
    const entry = { runId: job.runId, functionId: job.functionId, jobId: job.id, step: job.stepName };
    if (job.kind === "sleep" || job.kind === "event" || job.kind === "invoke") {
      await outlast(() => scheduler.expire(job), end.signal);
      return;
    }
    const answer = await call(assignment);
    let written: boolean;
    try {
      written = await outlast(() => scheduler.settle(job, answer), end.signal);
    } catch (error) {
      log.error("could not write down what came of a call", { ...entry, error });
      const failure: Answer = { type: "failed", error: describeError(error), final: false, retryInMs: null };
      written = await outlast(() => scheduler.settle(job, failure), end.signal);
    }
    if (!written) log.debug("dropped the answer of a stale call", entry);
  }

  async function call({ job, memo, busy }: Assignment): Promise<Answer> {
    const maxAttempts = functions.get(job.functionId)?.maxAttempts ?? 1;
    if (job.attempt >= maxAttempts)
      return { type: "failed", error: diedTooOften(job), final: true, retryInMs: null };
    try {
      if (handler === null) throw new Error("No functions are registered.");
      const response = await handler(
        buildCall({
          functionId: job.functionId,
          stepId: job.stepId,
          runId: job.runId,
          jobId: job.id,
          generation: job.generation,
          attempt: job.attempt,
          maxAttempts,
          event: job.event,
          memo,
          planOnly: busy,
        }),
      );
      return await readAnswer(response, clock.now());
    } catch (error) {
      return { type: "failed", error: describeError(error), final: false, retryInMs: null };
    }
  }

  async function pruneAll(): Promise<void> {
    try {
      const now = clock.now().getTime();
      const before = [new Date(now - finishedRunsMs), new Date(now - eventIdsMs)] as const;
      while (!queue.stopping() && (await prune(pool, ...before, PRUNE_ROWS)) >= PRUNE_ROWS);
    } catch (error) {
      log.warn("could not clean up finished runs", { error });
    }
  }

  async function configure(client: Inngest.Any, fns: readonly InngestFunction.Any[]): Promise<void> {
    handler = serve({ client, functions: fns });
    const response = await handler(buildSync());
    for (const fn of readFunctions(await response.json())) {
      for (const trigger of fn.triggers) if (trigger.expression) compileExpression(trigger.expression);
      for (const rule of fn.cancelOn) if (rule.if) compileExpression(rule.if);
      for (const limit of fn.limits) if (limit.key) compileExpression(limit.key);
      functions.set(fn.id, fn);
    }
  }

  return {
    fetch: createTransport({
      async send(events, idSeed) {
        if (registration === null)
          throw new Error("Register the functions before sending events: they would be lost.");
        await registration;
        const ids = await scheduler.send(events, idSeed);
        announce();
        return ids;
      },
      checkpoint,
    }),
    register(client, fns) {
      if (registration !== null) throw new Error("The functions are registered already.");
      registration = configure(client, fns);
      return registration;
    },
    async start() {
      if (registration === null) throw new Error("Register the functions before starting the engine.");
      await registration;
      started = true;
      queue.start();
      listening = doorbell.listen(end.signal);
      pruning = setInterval(() => void pruneAll(), PRUNE_EVERY_MS);
      void pruneAll();
    },
    async stop(graceMs = 10_000) {
      clearInterval(pruning);
      if (started) await queue.stop(graceMs);
      end.abort();
      doorbell.ring();
      await Promise.all([listening, doorbell.flush()]);
    },
    ready: async () => started && !queue.stopping() && queue.healthy(),
    async cancelRun(runId) {
      const cancelled = await scheduler.cancel(runId);
      announce();
      return cancelled;
    },
    full: () => queue.full(),
    isRunning: (runId) => isUnfinished(pool, runId),
    findRuns: (eventId) => findRunsOfEvent(pool, eventId),
  };
}

function diedTooOften(job: Job) {
  return {
    name: "Error",
    message: `The process died or hung in the middle of the call, after ${job.attempt} attempts.`,
  };
}
