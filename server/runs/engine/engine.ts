import { Decimal, ZERO } from "@/server/credits/amount";
import { isPassing, outlast } from "@/server/db/outage";
import type { Services } from "@/server/services";
import { type Budget, capBudget, openBudget } from "./budget";
import { type Admitted, admitWaitingRuns, anyWaiting, claimRun, readClaimedRuns } from "./claim";
import type { ClaimedRun } from "./claimed-run";
import { endOpenRun, endUnclaimedRun } from "./end-run";
import { executeRun, type Stretch } from "./execute-run";
import { type Outcome, RunStopped, YieldSlot } from "./execution";
import { slotsToYield } from "./fair-share";
import { readOpenFigures } from "./figures";
import { emptyJournal, RunJournal } from "./journal";
import { pauseAt } from "./pause-points";
import type { Engine, ExecutingRun, Worker } from "./port";
import {
  findClaimedRuns,
  pauseRun,
  readState,
  releaseChildren,
  releaseRuns,
  renewClaim,
  runsInFlight,
  waitingShares,
  yieldSlot,
} from "./run-state";
import { readJournal } from "./takeover";
import { wait } from "./wait";
import { openWorker } from "./worker";
import { WorkerLost } from "./writer";

/**
 * The engine of one process: it has slots, gives them to runs, and drives each run segment by segment through a durable
 * function (inngest/functions.ts). docs/engine.md draws its state machine.
 */

/** What executes the durable functions. */
export type Driver =
  | {
      kind: "embedded";
      /** Executes one segment of a run of this process; resolves when it is over. */
      execute(run: Admitted): Promise<void>;
    }
  | {
      kind: "server";
      /** Hands runs to an Inngest server, which calls their segments; it takes each event id once. */
      handOver(runs: readonly (Admitted & { eventId: string })[]): Promise<void>;
    };

/** How a segment ended: the run ended, waits for a slot again, goes on in the next segment, or is none of this engine's. */
export type SegmentResult = "ended" | "yielded" | "paused" | "left";

export type RunEngine = Engine & {
  start(driver: Driver): void;
  stop(graceMs?: number): Promise<void>;
  /** Executes a segment of a run, at most `acts` model calls and rounds of calls. Throws what a later attempt may mend. */
  executeSegment(runId: string, limits?: { acts?: number }): Promise<SegmentResult>;
  /** Executes a segment that an Inngest server calls, again if something fails that a later attempt may mend. */
  callSegment(runId: string, limits: { acts: number }): Promise<SegmentResult>;
  /** Ends a run that no attempt could carry on: a fault of the platform, uncharged, its cause only in the log. */
  giveUp(runId: string, error: unknown): Promise<void>;
};

export type EngineOptions = {
  /** Runs that this process executes at once. */
  slots: number;
  /** Told of each run that ends here; for caches. */
  onEnd?: Stretch["onEnd"];
};

/** Attempts of one segment in this process when something unforeseen fails. A database that is away does not count. */
const MAX_ATTEMPTS = 6;
/** How often waiting runs and cancels are looked for without a notification. */
const LOOK_EVERY_MS = 1_000;
/** While all slots are taken: how often it is asked who waits. */
const SHARE_EVERY_MS = 100;
/** Runs that an Inngest server has and has not called yet, at most; fewer where there are fewer slots. */
const SERVER_BACKLOG = 100;

type Slot = {
  run: ClaimedRun;
  worker: Worker;
  journal: RunJournal;
  budget: Budget;
  /** The journals of the run and its children in this segment, with how many of their rows were finished before it. */
  entered: { journal: RunJournal; before: number }[];
  /** It leaves its slot before its next act. */
  yielding: boolean;
};

export function createRunEngine(getServices: () => Services, options: EngineOptions): RunEngine {
  const engine = new ProcessEngine(getServices, options);
  return {
    worker: () => engine.worker(),
    begin: (run, worker) => engine.begin(run, worker),
    wake: () => engine.wake(),
    abort: (runId) => engine.abort(runId),
    find: (runId) => engine.find(runId),
    ready: () => engine.ready(),
    start: (driver) => engine.start(driver),
    stop: (graceMs) => engine.stop(graceMs),
    executeSegment: (runId, limits) => engine.executeSegment(runId, limits),
    callSegment: (runId, limits) => engine.callSegment(runId, limits),
    giveUp: (runId, error) => engine.giveUp(runId, error),
  };
}

class ProcessEngine implements RunEngine {
  readonly #getServices: () => Services;
  readonly #options: EngineOptions;
  /** Root runs that have a slot here, by id. */
  readonly #slots = new Map<string, Slot>();
  /** Slots of runs that were admitted and are not in `#slots` yet. */
  #reserved = 0;
  /** Runs that execute here, children included. */
  readonly #executing = new Map<string, ExecutingRun & { stop: AbortController }>();
  /** Runs that are being claimed for an Inngest server's calls. */
  readonly #opening = new Set<string>();
  /** A second has passed since claimed runs were last compared with those that execute here. */
  #mayHaveForgotten = false;
  /** How many slots each organization is to yield. */
  #owed = new Map<string, number>();
  #worker: Promise<Worker> | undefined;
  #driver: Driver | undefined;
  #stopping = false;
  #waiting = false;
  #claiming = false;
  #claimAgain = false;
  #timers: NodeJS.Timeout[] = [];
  #unlisten: (() => void) | undefined;
  #sharing: NodeJS.Timeout | undefined;

  constructor(getServices: () => Services, options: EngineOptions) {
    this.#getServices = getServices;
    this.#options = options;
  }

  worker(): Promise<Worker> {
    this.#worker ??= openWorker(this.#getServices(), {
      freeSlots: () => this.#freeSlots(),
      executing: () => this.#executing.size,
      onAdmitted: (starts) => {
        this.#reserved += starts;
      },
      onLost: (error) => this.#lose(error),
    }).catch((error: unknown) => {
      this.#worker = undefined;
      throw error;
    });
    return this.#worker;
  }

  start(driver: Driver): void {
    const services = this.#getServices();
    this.#driver = driver;
    services.notifications.open();
    this.#unlisten = services.notifications.listen("engine", (payload) => {
      if (payload.startsWith("cancel:")) this.abort(payload.slice("cancel:".length));
      else this.wake();
    });
    this.#timers.push(setInterval(() => void this.#look(), LOOK_EVERY_MS));
    for (const timer of this.#timers) timer.unref();
    void this.#look();
  }

  async stop(graceMs = 0): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#sharing);
    this.#unlisten?.();
    // Runs yield before their next act; what takes longer than the grace is given back as it is.
    const until = performance.now() + graceMs;
    while (this.#executing.size > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const closing = new WorkerLost("The process is stopping.");
    for (const { stop } of this.#executing.values()) stop.abort(closing);
    const worker = await this.#worker?.catch(() => undefined);
    await worker?.close();
  }

  async ready(): Promise<boolean> {
    return this.#driver !== undefined && !this.#stopping;
  }

  find(runId: string): ExecutingRun | undefined {
    return this.#executing.get(runId);
  }

  abort(runId: string): void {
    this.#executing.get(runId)?.stop.abort(new RunStopped("The run is cancelled."));
  }

  wake(): void {
    this.#waiting = true;
    void this.#claim();
  }

  /** Slots for starts: those that claims have not reserved. None where an Inngest server drives the runs. */
  #freeSlots(): number {
    if (this.#driver?.kind !== "embedded" || this.#stopping) return 0;
    return this.#options.slots - this.#slots.size - this.#reserved;
  }

  begin(run: ClaimedRun, worker: Worker): void {
    this.#reserved -= 1;
    void this.#drive(this.#open(run, worker));
  }

  /** Gives a claimed run its slot. */
  #open(run: ClaimedRun, worker: Worker, { contents, children } = UNTOUCHED()): Slot {
    const journal = new RunJournal(this.#getServices(), worker, run, contents);
    const used = contents.totals.credits.add(children.open);
    const budget = capBudget(openBudget(worker, run, used), run.cap, used.add(children.ended));
    const slot: Slot = { run, worker, journal, budget, entered: [], yielding: false };
    this.#slots.set(run.id, slot);
    return slot;
  }

  /** Gives a claimed run its slot with what it has done so far. */
  async #openAgain(run: ClaimedRun, worker: Worker): Promise<Slot> {
    if (run.epoch === 1) return this.#open(run, worker);
    const services = this.#getServices();
    const contents = await readJournal(services, run);
    return this.#open(run, worker, { contents, children: await childCredits(services, run.id) });
  }

  /** Drives a run of the embedded engine through one segment, again if something fails that a later attempt may mend. */
  async #drive(first: Slot): Promise<void> {
    const { log } = this.#getServices();
    const { id, kind, segment } = first.run;
    if (this.#driver?.kind !== "embedded") throw new Error("only the embedded engine drives runs itself");
    let slot = first;
    try {
      for (let attempt = 1; ; ) {
        try {
          await this.#driver.execute({ id, kind, epoch: slot.run.epoch, segment });
          return;
        } catch (error) {
          if (error instanceof WorkerLost || this.#stopping) return;
          log.warn("A run met a fault of the platform; trying again", { runId: id, attempt, error });
          if (attempt === MAX_ATTEMPTS) return await this.giveUp(id, error);
          const delay = delayAfter(attempt);
          if (!isPassing(error)) attempt += 1;
          await wait(delay, NEVER);
        }
        const faulty = slot;
        const again = await outlast(() => this.#reopen(faulty), NEVER);
        if (again === null) return;
        slot = again;
      }
    } catch (error) {
      log.error("A run could not be carried on; it waits for a slot again", { runId: id, error });
    } finally {
      if (this.#slots.get(id) === slot) this.#slots.delete(id);
      if (this.#waiting) void this.#claim();
    }
  }

  /** Opens a run again after a fault, with what is committed of it. Null when it is not this worker's any more. */
  async #reopen(slot: Slot): Promise<Slot | null> {
    const services = this.#getServices();
    await settle(slot);
    if (!(await renewClaim(services, slot.run, slot.worker.id))) return null;
    const [renewed] = await readClaimedRuns(services, [slot.run.id]);
    return renewed === undefined ? null : this.#openAgain(renewed, slot.worker);
  }

  /** Claims a run that an Inngest server calls. Null when it cannot be claimed. */
  async #claimOne(runId: string): Promise<Slot | null> {
    const services = this.#getServices();
    if (this.#slots.has(runId) || this.#opening.has(runId)) return null;
    this.#opening.add(runId);
    try {
      const worker = await this.worker();
      const claimed = await claimRun(services, runId, worker.id);
      return claimed === null ? null : await this.#openAgain(claimed, worker);
    } finally {
      this.#opening.delete(runId);
    }
  }

  async executeSegment(runId: string, { acts = Number.POSITIVE_INFINITY } = {}): Promise<SegmentResult> {
    const services = this.#getServices();
    const slot = this.#driver?.kind === "embedded" ? this.#slots.get(runId) : await this.#claimOne(runId);
    if (!slot) return this.#unclaimable(runId);
    const { run, worker, journal, budget } = slot;
    let left = acts;
    let isOver = false;
    slot.entered = [];
    // A segment yields only after an act of its own.
    const hasProgressed = () => slot.entered.some((entry) => countFinished(entry.journal) > entry.before);
    const stretch: Stretch = {
      services,
      worker,
      checkpoint: () => {
        isOver = left <= 0;
        if (isOver) throw new YieldSlot("the segment is over");
        left -= 1;
        if (this.#stopping || (hasProgressed() && this.#owesSlot(slot)))
          throw new YieldSlot("another run is next");
      },
      enter: (entered, entry, stop) => {
        this.#executing.set(entered.id, { run: entered, totals: entry.totals, stop });
        slot.entered.push({ journal: entry, before: countFinished(entry) });
        return () => void this.#executing.delete(entered.id);
      },
      onEnd: (ended, end) => this.#options.onEnd?.(ended, end),
    };
    try {
      await executeRun(stretch, run, { journal, budget });
      return "ended";
    } catch (error) {
      if (error instanceof RunStopped) return "left";
      if (error instanceof YieldSlot) return await this.#leaveSlot(slot, isOver);
      // The segment is called again, here or in another process.
      if (this.#driver?.kind !== "embedded" && !(error instanceof WorkerLost)) await this.#handBack(slot);
      throw error;
    } finally {
      if (this.#driver?.kind !== "embedded" && this.#slots.get(runId) === slot) this.#slots.delete(runId);
    }
  }

  async callSegment(runId: string, limits: { acts: number }): Promise<SegmentResult> {
    const { log } = this.#getServices();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.executeSegment(runId, limits);
      } catch (error) {
        // Whoever replaced the worker, or finds that nobody calls the run, hands it over by another event.
        if (error instanceof WorkerLost || this.#stopping) return "left";
        log.warn("A run met a fault of the platform; trying again", { runId, attempt, error });
        if (attempt === MAX_ATTEMPTS) {
          if (isPassing(error)) return "left";
          await this.giveUp(runId, error);
          return "ended";
        }
        await wait(delayAfter(attempt), NEVER);
      }
    }
  }

  /** Ends a segment before its run has ended; `paused`: the server's next call goes on with it. */
  async #leaveSlot(slot: Slot, paused: boolean): Promise<SegmentResult> {
    const services = this.#getServices();
    const { run, worker, journal } = slot;
    for (const entry of slot.entered) await entry.journal.committed();
    await pauseAt("yield:before");
    if (paused && !this.#owesSlot(slot))
      return (await pauseRun(services, run, worker.id)) ? "paused" : await this.#unclaimable(run.id);
    const yielded = await yieldSlot(services, run, {
      workerId: worker.id,
      sequence: journal.nextSequence(),
    });
    if (!yielded) return await this.#unclaimable(run.id);
    services.notifications.send("engine", "waiting", "waiting");
    return "yielded";
  }

  /** Releases a run after a fault. What cannot be released now is released with the forgotten runs. */
  async #handBack(slot: Slot): Promise<void> {
    const services = this.#getServices();
    await settle(slot);
    await pauseRun(services, slot.run, slot.worker.id).catch((error: unknown) => {
      services.log.warn("Could not release a run after a fault; trying again within a second", { error });
    });
  }

  /** What to do about a run that cannot be claimed. */
  async #unclaimable(runId: string): Promise<SegmentResult> {
    const services = this.#getServices();
    const state = await readState(services, runId);
    if (state === null || state.terminal) return "ended";
    if (state.claimed) return "left";
    if (state.cancelledBy === null) return "yielded";
    await endUnclaimedRun(services, runId, { status: "Cancelled", by: state.cancelledBy });
    return "ended";
  }

  async giveUp(runId: string, error: unknown): Promise<void> {
    const services = this.#getServices();
    services.log.error("A run was given up", { runId, error });
    const message = "Something failed on our side while this run was executed. Start it again.";
    const outcome: Outcome = { status: "Failed", code: "internal_error", message };
    const slot = this.#slots.get(runId);
    if (slot) await settle(slot);
    await outlast(async () => {
      if (slot) await releaseChildren(services.pool, runId, slot.worker.id);
      await endOpenRun(services, runId, { outcome, worker: slot?.worker });
    }, NEVER);
  }

  /** Gives waiting runs the free slots, or lets runs yield to those of other organizations. One at a time. */
  async #claim(): Promise<void> {
    if (this.#claiming || this.#driver === undefined || this.#stopping) {
      this.#claimAgain = this.#claiming;
      return;
    }
    this.#claiming = true;
    try {
      do {
        this.#claimAgain = false;
        await this.#releaseForgotten();
        if (this.#driver.kind === "embedded") await this.#claimHere();
        else await this.#handOver(this.#driver);
      } while (this.#claimAgain && !this.#stopping);
    } catch (error) {
      this.#getServices().log.warn("Could not claim waiting runs; trying again within a second", { error });
    } finally {
      this.#claiming = false;
    }
  }

  /**
   * Gives back, once a second, what this worker has claimed and does not execute: the answer to a claim was lost, the caller
   * of a start had given up, or a run could not be carried on. No claim is under way here.
   */
  async #releaseForgotten(): Promise<void> {
    if (!this.#mayHaveForgotten || this.#worker === undefined) return;
    this.#mayHaveForgotten = false;
    const services = this.#getServices();
    const { id: workerId, accounts } = await this.#worker;
    const claimed = await findClaimedRuns(services, workerId);
    const isKnown = (id: string) => this.#slots.has(id) || this.#opening.has(id) || accounts.isStarting(id);
    const forgotten = claimed.filter(({ id }) => !isKnown(id));
    if (forgotten.length === 0) return;
    // Most of them have ended since they were read.
    const runs = await releaseRuns(services, workerId, forgotten);
    if (runs.length === 0) return;
    services.log.warn("Runs that this worker had claimed were not executed; they are given back", { runs });
    this.#waiting = true;
  }

  async #claimHere(): Promise<void> {
    const services = this.#getServices();
    const worker = await this.worker();
    while (this.#waiting && !this.#stopping) {
      // Half of the free slots are left to starts that come while the database is asked.
      const free = Math.ceil(this.#freeSlots() / 2);
      if (free <= 0) return this.#shareSoon();
      this.#reserved += free;
      let admitted: Admitted[] = [];
      try {
        admitted = await admitWaitingRuns(services, worker.id, free);
        await pauseAt("claim:after");
        const runs = await readClaimedRuns(
          services,
          admitted.map(({ id }) => id),
        );
        for (const run of runs) {
          void this.#drive(await this.#openAgain(run, worker));
        }
      } finally {
        this.#reserved -= free;
      }
      if (admitted.length < free) {
        this.#waiting = await anyWaiting(services.pool);
        return;
      }
    }
  }

  async #handOver(driver: Extract<Driver, { kind: "server" }>): Promise<void> {
    const services = this.#getServices();
    // Its heartbeat also replaces workers that died before this process was called.
    await this.worker();
    const { rows } = await services.pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM runs WHERE status IN ('Pending', 'Running') AND admitted_at IS NOT NULL AND claimed_by IS NULL AND parent_run_id IS NULL`,
    );
    const room = Math.min(SERVER_BACKLOG, this.#options.slots) - (rows[0]?.n ?? 0);
    if (room <= 0) return this.#shareSoon();
    this.#owed.clear();
    const admitted = await admitWaitingRuns(services, null, room);
    await driver.handOver(
      admitted.map((run) => ({ ...run, eventId: `${run.id}:${run.segment}.${run.epoch}` })),
    );
  }

  /** Looks for what a notification would have told of. */
  async #look(): Promise<void> {
    const services = this.#getServices();
    try {
      const { rows } = await services.pool.query<{ id: string; by: string; claimed: boolean }>({
        name: "look-for-cancels",
        text: `SELECT id, coalesce(cancelled_by, 'a user') AS by, claimed_by IS NOT NULL AS claimed FROM runs
               WHERE status IN ('Pending', 'Running') AND cancel_requested_at IS NOT NULL ORDER BY id LIMIT 500`,
      });
      for (const { id, by, claimed } of rows) {
        if (claimed) this.abort(id);
        else await endUnclaimedRun(services, id, { status: "Cancelled", by });
      }
    } catch (error) {
      services.log.warn("Could not look for cancelled runs; trying again in a second", { error });
    }
    this.#mayHaveForgotten = true;
    this.wake();
  }

  #shareSoon(): void {
    this.#sharing ??= setTimeout(() => {
      this.#sharing = undefined;
      void this.#share().catch((error: unknown) => {
        this.#getServices().log.warn("Could not ask who waits for a slot; trying again", { error });
      });
    }, SHARE_EVERY_MS);
    this.#sharing.unref();
  }

  /** Decides which organizations are to yield slots to others. */
  async #share(): Promise<void> {
    if (this.#freeSlots() > 0) {
      this.#owed.clear();
      return;
    }
    const { pool } = this.#getServices();
    // Runs are counted last: one that got its slot meanwhile must not make another one yield.
    const waiting = await waitingShares(pool);
    const running = this.#driver?.kind === "embedded" ? this.#runningHere() : await runsInFlight(pool);
    this.#owed = slotsToYield(
      [...new Set([...running.keys(), ...waiting.keys()])].map((organizationId) => ({
        organizationId,
        running: running.get(organizationId) ?? 0,
        waiting: waiting.get(organizationId) ?? 0,
      })),
    );
    if (waiting.size > 0) this.#shareSoon();
  }

  /** How many runs of each organization have a slot here and are not about to yield it. */
  #runningHere(): Map<string, number> {
    const running = new Map<string, number>();
    for (const { run, yielding } of this.#slots.values()) {
      if (!yielding) running.set(run.orgId, (running.get(run.orgId) ?? 0) + 1);
    }
    return running;
  }

  /** Whether a run is to yield its slot to one of another organization. If so, it counts as yielding from now on. */
  #owesSlot(slot: Slot): boolean {
    const owed = this.#owed.get(slot.run.orgId) ?? 0;
    if (owed === 0) return false;
    this.#owed.set(slot.run.orgId, owed - 1);
    slot.yielding = true;
    return true;
  }

  /** Another process has this worker's runs now: they stop here, and a new worker goes on with others. */
  #lose(error: WorkerLost): void {
    this.#worker = undefined;
    if (this.#stopping) return;
    this.#getServices().log.error("This worker was replaced by another process; its runs go on there");
    for (const { stop } of this.#executing.values()) stop.abort(error);
  }
}

const NEVER = new AbortController().signal;
/** What a run that nobody executed before has done. */
const UNTOUCHED = () => ({ contents: emptyJournal(), children: { open: ZERO, ended: ZERO } });

/** Waits until nothing of a run and its children is on its way to the database any more, whether it was written or not. */
async function settle({ journal, entered }: Slot): Promise<void> {
  for (const one of [journal, ...entered.map((entry) => entry.journal)]) await one.settled();
}

/** How long to wait after a failed attempt. */
function delayAfter(attempt: number): number {
  return Math.min(10_000, 250 * 2 ** attempt);
}

function countFinished({ calls, steps }: RunJournal): number {
  return calls.size + steps.size;
}

/** What the children of a run have used: the open ones out of the hold, the ended ones charged. */
async function childCredits({ pool }: Services, runId: string) {
  const { rows } = await pool.query<{ id: string; credits: string; open: boolean }>(
    `SELECT id, credits_used AS credits, finished_at IS NULL AS open FROM runs WHERE parent_run_id = $1`,
    [runId],
  );
  const figures = await readOpenFigures(
    pool,
    rows.filter(({ open }) => open).map(({ id }) => id),
  );
  let open = ZERO;
  let ended = ZERO;
  for (const row of rows) {
    if (row.open) open = open.add(figures.get(row.id)?.totals.credits ?? ZERO);
    else ended = ended.add(new Decimal(row.credits));
  }
  return { open, ended };
}
