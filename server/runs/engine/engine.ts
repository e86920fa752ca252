import { isTransient, rejectsWrites, retryWhileUnavailable } from "@/server/base/db/outage";
import { sleep } from "@/server/base/sleep";
import { CANCELLED } from "@/server/runs/failure-codes";
import type { Services } from "@/server/runs/services";
import { claimRun } from "./claim";
import type { ClaimedRun, Outcome } from "./claimed-run";
import { Dispatcher, type Driver, type Executor } from "./dispatcher";
import { Branches } from "./execute/branches";
import type { DurableSteps } from "./execute/durable-steps";
import { executeRun } from "./execute/execute-run";
import type { SegmentContext } from "./execute/execution";
import { RunStopped, YieldSlot } from "./interruptions";
import type { Engine, ExecutingRun, Worker } from "./port";
import { releaseRuns, uncountCrash, wakeSleeper } from "./run-state";
import { ProcessSlots } from "./slots/process-slots";
import {
  endUnclaimable,
  failRun,
  pauseSlot,
  type RunEnd,
  releaseRun,
  releaseSlot,
  type SegmentResult,
  type Slot,
  waitForCommit,
} from "./slots/slot";
import type { RunQueue } from "./suspects";
import { hasEmptyJournal } from "./takeover";
import { openWorker } from "./worker";
import { WorkerLost } from "./write/writer";

type EngineOptions = {
  slots: number;
  onEnd?: SegmentContext["onEnd"];
};

/** The run to execute, and the number of its hand-over to an Inngest server. */
export type RunCall = { runId: string; handOver?: number | undefined };

// Nothing else tells that the disk has space again.
const REJECTED_FOR_MS = 10_000;
// For unexpected errors of one segment; an unavailable database does not count.
const MAX_ATTEMPTS = 6;
// Jobs in progress end soon, and are repeated if they don't.
const JOBS_GRACE_MS = 5_000;

/**
 * The engine of one process: drives runs with a slot through a durable function, segment by segment, and gives
 * slots to waiting ones. docs/engine.md lists the states.
 */
export class RunEngine implements Engine, Executor {
  protected readonly getServices: () => Services;
  readonly #options: EngineOptions;
  readonly #slots: ProcessSlots;
  /** Includes children. */
  readonly #executing = new Map<string, ExecutingRun & { stop: AbortController }>();
  // There may be a late call for an earlier hand-over.
  readonly #opening = new Set<RunCall>();
  #worker: Promise<Worker> | undefined;
  #driver: Driver | undefined;
  #dispatcher: Dispatcher | undefined;
  #stopping = false;
  #rejectedAt = Number.NEGATIVE_INFINITY;

  constructor(getServices: () => Services, options: EngineOptions) {
    this.getServices = getServices;
    this.#options = options;
    this.#slots = new ProcessSlots(getServices, options.slots);
  }

  get #isEmbedded(): boolean {
    return this.#driver?.kind === "embedded";
  }

  get isExecuting(): boolean {
    return this.#slots.used > 0;
  }

  // A process without runs always takes one.
  get #isFull(): boolean {
    return this.isExecuting && this.getServices().memory.isTight();
  }

  worker(): Promise<Worker> {
    this.#worker ??= openWorker(this.getServices(), {
      freeSlots: () => this.freeSlots(),
      executing: () => this.#executing.size,
      onAdmitted: (starts) => this.#slots.reserve(starts),
      onRejected: () => this.#noteRejected(),
      onLost: (error) => this.#handleLostWorker(error),
    }).catch((error: unknown) => {
      this.#worker = undefined;
      if (rejectsWrites(error)) this.#noteRejected();
      throw error;
    });
    return this.#worker;
  }

  #noteRejected(): void {
    this.#rejectedAt = this.getServices().clock.monotonicMs();
  }

  start(driver: Driver, queue: RunQueue = "all"): void {
    this.#driver = driver;
    const dispatched = { executor: this, slots: this.#slots, queue };
    this.#dispatcher = new Dispatcher(this.getServices(), driver, dispatched);
    this.#dispatcher.start();
  }

  /**
   * Releases all runs: after their next call, or after `graceMs`. Work that `jobs` awaits may use the worker for 5 s;
   * what it does then fails.
   */
  async stop(graceMs = 0, jobs: Promise<unknown> = Promise.resolve()): Promise<void> {
    this.#stopping = true;
    this.#dispatcher?.stop();
    const waiting = new AbortController();
    const overdue = sleep(JOBS_GRACE_MS, waiting.signal);
    // Runs yield before their next call and store that; after the grace period, longer ones are released as they are.
    const until = performance.now() + graceMs;
    while (this.isExecuting && performance.now() < until) await sleep(20);
    const closing = new WorkerLost("The process is stopping.");
    for (const { stop } of this.#executing.values()) stop.abort(closing);
    await Promise.race([jobs, overdue]);
    waiting.abort();
    const worker = await this.#worker?.catch(() => undefined);
    await worker?.close();
  }

  async ready(): Promise<boolean> {
    return this.#driver !== undefined && !this.#stopping;
  }

  canWrite(): boolean {
    return this.getServices().clock.monotonicMs() - this.#rejectedAt > REJECTED_FOR_MS;
  }

  find(runId: string): ExecutingRun | undefined {
    const slot = this.#slots.get(runId);
    // A run with a slot begins to execute a moment later.
    return this.#executing.get(runId) ?? (slot && { run: slot.run, totals: slot.journal.totals });
  }

  abort(runId: string): void {
    this.#executing.get(runId)?.stop.abort(new RunStopped(CANCELLED));
  }

  isKnown(runId: string): boolean {
    if (this.#slots.get(runId) !== undefined) return true;
    for (const call of this.#opening) if (call.runId === runId) return true;
    return false;
  }

  wake(): void {
    this.#dispatcher?.wake();
  }

  freeSlots(): number {
    // None for starts if an Inngest server drives the runs.
    return this.#isEmbedded && !this.#stopping && !this.#isFull ? this.#slots.free : 0;
  }

  slots() {
    return { total: this.#slots.total, used: this.#slots.used };
  }

  begin(run: ClaimedRun, worker: Worker): void {
    if (!hasEmptyJournal(run)) return void this.#beginFork(run, worker);
    this.#slots.reserve(-1);
    void this.#drive(this.#slots.open(run, worker));
  }

  /** Reads what the fork takes over. Meanwhile its slot stays reserved. */
  async #beginFork(run: ClaimedRun, worker: Worker): Promise<void> {
    const call = { runId: run.id };
    this.#opening.add(call);
    try {
      await this.beginClaimed(run, worker);
    } catch (error) {
      const { log } = this.getServices();
      log.warn("Could not read what a fork takes over; it waits for a slot again", { ...call, error });
    } finally {
      this.#opening.delete(call);
      this.#slots.reserve(-1);
    }
  }

  async beginClaimed(run: ClaimedRun, worker: Worker): Promise<void> {
    const slot = await this.#slots.openClaimed(run, worker);
    void this.#drive(slot);
  }

  async #drive(first: Slot): Promise<void> {
    const { log } = this.getServices();
    const { id, kind } = first.run;
    if (this.#driver?.kind !== "embedded") throw new Error("only the embedded engine drives runs itself");
    let slot = first;
    try {
      for (let attempt = 1; ; ) {
        try {
          await this.#driver.execute({ id, kind });
          return;
        } catch (error) {
          if (error instanceof WorkerLost || this.#stopping) return;
          log.warn("A run failed with a platform error; retrying", { runId: id, attempt, error });
          const delay = delayAfter(attempt);
          if (!isTransient(error)) {
            if (attempt === MAX_ATTEMPTS) return await this.failRun(id, error);
            attempt += 1;
          }
          await sleep(delay);
        }
        const failed = slot;
        const again = await retryWhileUnavailable(() => this.#slots.reopen(failed));
        if (again === null) return;
        slot = again;
      }
    } catch (error) {
      log.error("A run could not continue; it waits for a slot again", { runId: id, error });
    } finally {
      this.#slots.close(slot);
      this.#dispatcher?.noteFreeSlot();
    }
  }

  async #claimAndOpen(call: RunCall): Promise<Slot | null> {
    const { runId, handOver } = call;
    const services = this.getServices();
    if (this.#slots.get(runId) !== undefined) return null;
    this.#opening.add(call);
    try {
      const worker = await this.worker();
      const claim = () => claimRun(services, { runId, handOver }, worker.id);
      let claimed = await claim();
      if (claimed === null && handOver !== undefined && (await wakeSleeper(services, { runId, handOver })))
        claimed = await claim();
      if (claimed === null) return null;
      if (this.#slots.texts.admits(claimed)) return await this.#slots.openClaimed(claimed, worker);
      await releaseRuns(services, worker.id, [claimed]);
      return null;
    } finally {
      this.#opening.delete(call);
    }
  }

  /** Throws errors that a later attempt may resolve. */
  async executeSegment(call: RunCall, steps: DurableSteps): Promise<SegmentResult> {
    const services = this.getServices();
    // The server calls again, perhaps another process.
    if (!this.#isEmbedded && this.#isFull) return { kind: "busy" };
    const slot = this.#isEmbedded ? this.#slots.get(call.runId) : await this.#claimAndOpen(call);
    if (!slot) return endUnclaimable(services, call);
    const { run, journal, budget } = slot;
    try {
      const outcome = await executeRun(this.#contextOf(slot, steps), run, { journal, budget });
      return { kind: "ended", end: endOf(outcome) };
    } catch (error) {
      if (error instanceof RunStopped) return await endUnclaimable(services, call);
      if (error instanceof YieldSlot) {
        await waitForCommit(slot);
        if (error.until !== undefined) return await releaseSlot(services, slot, error.until);
        // The server's next call continues.
        return await (error.isCallOver && !this.#mustYieldSlot(slot)
          ? pauseSlot(services, slot)
          : releaseSlot(services, slot));
      }
      // The segment is called again, here or in another process.
      if (!this.#isEmbedded && !(error instanceof WorkerLost)) await releaseRun(services, slot);
      throw error;
    } finally {
      if (!this.#isEmbedded) this.#slots.close(slot);
    }
  }

  #contextOf(slot: Slot, steps: DurableSteps): SegmentContext {
    const services = this.getServices();
    // A segment yields only after its first call.
    const { tree } = slot;
    const hasProgressed = () =>
      tree.hasEndedChild || [...tree.journals].some((journal) => journal.hasProgressed);
    return {
      services,
      worker: slot.worker,
      branches: new Branches(() => services.clock.now()),
      steps,
      tree,
      checkpoint: () => {
        steps.checkpoint(hasProgressed());
        if (this.#stopping || (hasProgressed() && this.#mustYieldSlot(slot)))
          throw new YieldSlot("another run is next");
        if (!this.#slots.texts.isBeyond(slot) || !hasProgressed()) return;
        this.#slots.texts.leave(slot.run);
        throw new YieldSlot("its texts take too much memory");
      },
      isHeldUp: () => this.#slots.texts.isHeldUp(slot),
      enter: (run, totals, stop) => {
        const entry = { run, totals, stop };
        this.#executing.set(run.id, entry);
        return () => {
          // If the worker was lost, the process may have claimed the run again.
          if (this.#executing.get(run.id) === entry) this.#executing.delete(run.id);
        };
      },
      onEnd: (run, end) => this.#options.onEnd?.(run, end),
    };
  }

  async callSegment(call: RunCall, steps: DurableSteps): Promise<SegmentResult> {
    const { runId } = call;
    const { log } = this.getServices();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.executeSegment(call, steps);
      } catch (error) {
        // The process that replaced the worker, or detects the missing call, hands the run over with another event.
        if (error instanceof WorkerLost || this.#stopping) return { kind: "left" };
        log.warn("A run failed with a platform error; retrying", { runId, attempt, error });
        if (attempt === MAX_ATTEMPTS) {
          if (isTransient(error)) return { kind: "left" };
          await this.failRun(runId, error);
          return await endUnclaimable(this.getServices(), call);
        }
        await sleep(delayAfter(attempt));
      }
    }
  }

  /** A platform error: not charged, its cause only in the log. */
  failRun(runId: string, error: unknown): Promise<void> {
    return failRun(this.getServices(), { runId, slot: this.#slots.get(runId), error });
  }

  // If true, the run counts as yielding from now on, and all its parallel branches yield.
  #mustYieldSlot(slot: Slot): boolean {
    if (slot.yielding) return true;
    if (!this.#dispatcher?.takeYield(slot.run.orgId)) return false;
    slot.yielding = true;
    return true;
  }

  #handleLostWorker(error: WorkerLost): void {
    this.#worker = undefined;
    if (this.#stopping) return;
    this.getServices().log.error("Another process replaced this worker and continues its runs");
    // Also those that are between two attempts or leave their slot.
    const lost = this.#slots.runIds();
    for (const { stop } of this.#executing.values()) stop.abort(error);
    const { pool, log } = this.getServices();
    retryWhileUnavailable(() => uncountCrash(pool, [lost])).catch((cause: unknown) => {
      log.warn("Could not store that a worker stalled and did not crash", { error: cause });
    });
  }
}

function endOf(outcome: Outcome): RunEnd {
  const { status } = outcome;
  if (status === "Completed") return { status, message: null };
  return { status, message: status === "Failed" ? outcome.message : outcome.by };
}

function delayAfter(attempt: number): number {
  return Math.min(10_000, 250 * 2 ** attempt);
}
