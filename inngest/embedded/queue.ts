import type { Pool } from "pg";
import type { Clock } from "@/server/clock";
import { outlast, sleep } from "@/server/db/outage";
import type { Logger } from "@/server/log";
import { claim, claimLimited, extendLeases, findNextDue, type Memory, recall, releaseLeases } from "./leases";
import type { EngineFunction } from "./protocol";
import { inTransaction, type Job } from "./store";

/** A claimed job with what its run remembers; `busy`: other jobs of the run are under way. */
export type Assignment = { job: Job; memo: Memory; busy: boolean };

/**
 * Claims due jobs and has them performed, at most `concurrency` at a time.
 *
 * It sleeps until it is woken, until the next job falls due, or until `pollMs` have passed: the poll is the safety net
 * for rings that were lost and for leases of processes that died. A job is given to one holder at a time; its lease is
 * extended while it is performed, and given back when this process stops first.
 */
export type Queue = {
  /** Starts claiming. */
  start(): void;
  /** Looks for work now. */
  wake(): void;
  /** Whether the last look for work reached the database. */
  healthy(): boolean;
  /** Whether it performs as many jobs as it may: the last look for work had no place left, or took the last one. */
  full(): boolean;
  /** Whether no more work is claimed: who comes to a checkpoint should give its job back. */
  stopping(): boolean;
  /** Stops claiming, waits up to `graceMs` for what is being performed, and gives the rest back. */
  stop(graceMs: number): Promise<void>;
};

export type QueueOptions = {
  pool: Pool;
  clock: Clock;
  log: Logger;
  functions: ReadonlyMap<string, EngineFunction>;
  concurrency: number;
  leaseMs: number;
  pollMs: number;
  /** Performs a job to its end. What it throws is logged, and the job comes back when its lease ends. */
  perform(assignment: Assignment): Promise<void>;
};

const RETRY_MS = 250;
const LONGEST_RETRY_MS = 2_000;
const GIVE_BACK_MS = 2_000;

/** Makes a queue; nothing happens before `start`. */
export function createQueue(options: QueueOptions): Queue {
  const { pool, clock, log, functions, concurrency, leaseMs, pollMs, perform } = options;
  const held = new Map<string, { job: Job; done: Promise<void> }>();
  const stop = new AbortController();
  let nap = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let heartbeat: NodeJS.Timeout | undefined;
  let healthy = false;
  let full = false;

  const wake = () => nap.abort();

  async function run(): Promise<void> {
    let failures = 0;
    while (!stop.signal.aborted) {
      // Made before looking: a ring that comes while we look is not slept through.
      nap = new AbortController();
      let napMs = pollMs;
      try {
        // One moment for both questions: what falls due between them is neither claimed nor slept through.
        const now = clock.now();
        const asked = concurrency - held.size;
        const found = asked > 0 ? await claimDue(asked, now) : 0;
        full = found === asked;
        if (found > 0 && found === asked) continue;
        if (asked > 0) {
          const nextMs = await findNextDue(pool, [...functions.keys()], now);
          if (nextMs !== null) napMs = Math.min(pollMs, nextMs - (clock.now().getTime() - now.getTime()));
        }
        if (failures > 0) log.info("claiming jobs again");
        failures = 0;
        healthy = true;
      } catch (error) {
        if (failures++ === 0) log.warn("cannot claim jobs; trying again until it works", { error });
        healthy = false;
        napMs = Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 8), LONGEST_RETRY_MS);
        await sleep(napMs, stop.signal);
        continue;
      }
      await sleep(Math.max(1, Math.ceil(napMs)), nap.signal);
    }
  }

  /** Claims up to `asked` jobs and begins them; returns how many there were. */
  async function claimDue(asked: number, now: Date): Promise<number> {
    const due = { now, leaseMs, count: asked, except: [...held.keys()] };
    const all = [...functions.values()];
    const unlimited = all.filter((fn) => fn.limits.length === 0).map((fn) => fn.id);
    const jobs = unlimited.length > 0 ? await claim(pool, unlimited, due) : [];
    for (const fn of all) {
      if (fn.limits.length > 0)
        jobs.push(...(await claimWithinLimits(fn, { ...due, count: asked - jobs.length })));
    }
    await begin(jobs);
    return jobs.length;
  }

  async function claimWithinLimits(fn: EngineFunction, due: Parameters<typeof claim>[2]): Promise<Job[]> {
    if (due.count <= 0) return [];
    const limits = fn.limits.map(({ limit }) => limit);
    return inTransaction(pool, async (tx) => {
      const jobs: Job[] = [];
      while (jobs.length < due.count) {
        const job = await claimLimited(tx, fn.id, limits, due);
        if (job === null) break;
        jobs.push(job);
      }
      return jobs;
    });
  }

  async function begin(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return;
    const runIds = [...new Set(jobs.map((job) => job.runId))];
    const memories = await outlast(() => recall(pool, runIds), stop.signal);
    for (const job of jobs) {
      const { memo, busy } = memories.get(job.runId) ?? { memo: [], busy: false };
      const done = perform({ job, memo, busy })
        .catch((error) =>
          log.error("a job was left to its lease", { error, jobId: job.id, runId: job.runId }),
        )
        .finally(() => {
          held.delete(job.id);
          wake();
        });
      held.set(job.id, { job, done });
    }
  }

  async function keepLeases(): Promise<void> {
    if (held.size === 0) return;
    try {
      const leases = [...held.values()].map(({ job }) => job);
      const kept = await extendLeases(pool, leases, leaseMs);
      for (const { id, runId } of leases) {
        // No reason to act: the fence refuses whatever it still says. Good to know, though.
        if (!kept.has(id) && held.has(id)) log.warn("lost the lease of a job", { jobId: id, runId });
      }
    } catch (error) {
      log.warn("could not extend leases", { error });
    }
  }

  return {
    start() {
      heartbeat = setInterval(() => void keepLeases(), leaseMs / 3);
      loop = run();
    },
    wake,
    healthy: () => healthy,
    full: () => full,
    stopping: () => stop.signal.aborted,
    async stop(graceMs) {
      stop.abort();
      wake();
      const patience = new AbortController();
      const idle = loop
        .then(() => Promise.all([...held.values()].map(({ done }) => done)))
        .then(() => patience.abort());
      await Promise.race([idle, sleep(graceMs, patience.signal)]);
      patience.abort();
      clearInterval(heartbeat);
      const rest = [...held.values()].map(({ job }) => job);
      if (rest.length === 0) return;
      log.info("giving unfinished jobs back", { jobs: rest.length });
      // Without the database there is nobody to give them to: then their leases end by themselves.
      const given = releaseLeases(pool, rest, clock.now()).catch((error) =>
        log.warn("could not give jobs back", { error }),
      );
      await Promise.race([given, sleep(GIVE_BACK_MS, new AbortController().signal)]);
    },
  };
}
