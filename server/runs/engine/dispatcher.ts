import { pauseAt } from "@/server/base/pause-points";
import type { Services } from "@/server/runs/services";
import { type Admitted, admitWaitingRuns, readClaimed } from "./claim";
import type { ClaimedRun } from "./claimed-run";
import { endUnclaimedRun } from "./end-run";
import type { Worker } from "./port";
import {
  countInFlight,
  countWaiting,
  findCancelledRuns,
  findClaimedRuns,
  findHandedOver,
  findWaiting,
  releaseHandedOver,
  releaseRuns,
  wakeRuns,
} from "./run-state";
import { slotsToYield } from "./slots/fair-share";
import type { ProcessSlots } from "./slots/process-slots";
import { failUnreadable } from "./slots/slot";
import { isOfSuspects, type RunQueue } from "./suspects";

export type Driver =
  | {
      kind: "embedded";
      /** Resolves when the segment is over. */
      execute(run: Pick<Admitted, "id" | "kind">): Promise<void>;
    }
  | {
      kind: "server";
      /** The Inngest server takes each hand-over once. */
      handOver(runs: readonly Admitted[]): Promise<void>;
      /** Once for each run. Never throws. */
      cancel(runId: string): Promise<void>;
    };

export type Executor = {
  freeSlots(): number;
  worker(): Promise<Worker>;
  /** Resolves when the run has started. */
  beginClaimed(run: ClaimedRun, worker: Worker): Promise<void>;
  abort(runId: string): void;
  isKnown(runId: string): boolean;
};

const POLL_EVERY_MS = 1_000;
// For polls while all slots are taken.
const SHARE_EVERY_MS = 100;
// Each run that is read has an input of up to 1 MiB.
const READ_AT_ONCE = 20;
// Runs handed over but not called yet; fewer if there are fewer slots.
const SERVER_BACKLOG = 100;
// After this delay the Inngest server should have called a run whose wait is over.
const SLEEPER_GRACE_MS = 5_000;

/**
 * Gives waiting runs the slots of one process, or hands them over to an Inngest server. While no slot is free, it
 * decides how many slots each organization must yield.
 */
export class Dispatcher {
  readonly #services: Services;
  readonly #driver: Driver;
  readonly #executor: Executor;
  readonly #slots: ProcessSlots;
  readonly #queue: RunQueue;
  #unexecutedDue = false;
  #yieldsDue = new Map<string, number>();
  #stopping = false;
  #waiting = false;
  /** The last claim gave all of its slots to runs. */
  #manyWait = false;
  #claiming = false;
  #claimAgain = false;
  #polling: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  #sharing: NodeJS.Timeout | undefined;
  #waking: NodeJS.Timeout | undefined;

  constructor(
    services: Services,
    driver: Driver,
    { executor, slots, queue }: { executor: Executor; slots: ProcessSlots; queue: RunQueue },
  ) {
    this.#services = services;
    this.#driver = driver;
    this.#executor = executor;
    this.#slots = slots;
    this.#queue = queue;
  }

  start(): void {
    const { notifications } = this.#services;
    notifications.open();
    this.#unlisten = notifications.listen("engine", (payload) => {
      if (payload.startsWith("cancel:")) this.#cancel(payload.slice("cancel:".length));
      else this.wake();
    });
    this.#polling = setInterval(() => void this.#poll(), POLL_EVERY_MS);
    this.#polling.unref();
    void this.#poll();
  }

  stop(): void {
    this.#stopping = true;
    clearInterval(this.#polling);
    clearTimeout(this.#sharing);
    clearTimeout(this.#waking);
    this.#unlisten?.();
  }

  wake(): void {
    this.#waiting = true;
    void this.#claim();
  }

  noteFreeSlot(): void {
    // A claim in progress asks for waiting runs at its end, and then claims for this slot again.
    if (this.#waiting || this.#claiming) void this.#claim();
  }

  /** Returns each slot that is due once. */
  takeYield(organizationId: string): boolean {
    const due = this.#yieldsDue.get(organizationId) ?? 0;
    if (due === 0) return false;
    this.#yieldsDue.set(organizationId, due - 1);
    return true;
  }

  async #claim(): Promise<void> {
    if (this.#claiming || this.#stopping) {
      this.#claimAgain = this.#claiming;
      return;
    }
    this.#claiming = true;
    try {
      do {
        this.#claimAgain = false;
        await this.#releaseUnexecuted();
        if (this.#driver.kind === "embedded") await this.#claimHere();
        else await this.#handOver(this.#driver);
      } while (this.#claimAgain && !this.#stopping);
    } catch (error) {
      this.#services.log.warn("Could not claim waiting runs; retrying in 1 s", { error });
    } finally {
      this.#claiming = false;
    }
  }

  // Releases claimed runs that do not execute: the answer to a claim was lost, a start's caller had given up,
  // or a run could not continue. No claim is in progress here.
  async #releaseUnexecuted(): Promise<void> {
    if (!this.#unexecutedDue) return;
    this.#unexecutedDue = false;
    const services = this.#services;
    const { id: workerId, accounts } = await this.#executor.worker();
    const claimed = await findClaimedRuns(services.pool, [workerId]);
    const unexecuted = claimed.filter(({ id }) => !this.#executor.isKnown(id) && !accounts.isStarting(id));
    if (unexecuted.length === 0) return;
    // Most have ended since they were read.
    const runs = await releaseRuns(services, workerId, unexecuted);
    if (runs.length === 0) return;
    services.log.warn("Released claimed runs that were not executing", { runs });
    this.#waiting = true;
  }

  async #claimHere(): Promise<void> {
    const services = this.#services;
    const worker = await this.#executor.worker();
    while (this.#waiting && !this.#stopping) {
      // Leaves half of the free slots for starts during the query, unless the last claim used all that it asked for.
      const free = Math.ceil(this.#executor.freeSlots() * (this.#manyWait ? 1 : 0.5));
      if (free <= 0) return this.#shareSoon();
      this.#slots.reserve(free);
      let admitted: Admitted[] = [];
      try {
        admitted = await this.#admit(worker.id, free);
        await pauseAt("claim:after");
        await this.#begin(admitted, worker);
      } finally {
        this.#slots.reserve(-free);
      }
      this.#manyWait = admitted.length === free;
      if (this.#manyWait) continue;
      // False first: a run that begins to wait during the query must not be forgotten.
      this.#waiting = false;
      if ((await findWaiting(services.pool, [isOfSuspects(this.#queue)])).length > 0) this.#waiting = true;
      return;
    }
  }

  // Leaves out large runs without room in memory.
  #admit(worker: string | null, slots: number): Promise<Admitted[]> {
    const except = this.#slots.texts.withoutRoom();
    return admitWaitingRuns(this.#services, { worker, slots, queue: this.#queue, except });
  }

  // Begins some at a time, because each has its texts. Releases those without room in memory.
  async #begin(admitted: readonly Admitted[], worker: Worker): Promise<void> {
    const services = this.#services;
    const { texts } = this.#slots;
    for (let first = 0; first < admitted.length; first += READ_AT_ONCE) {
      const ids = admitted.slice(first, first + READ_AT_ONCE).map(({ id }) => id);
      const { runs, unreadable } = await readClaimed(services, ids);
      for (const { id, error } of unreadable) await failUnreadable(services, { runId: id, worker }, error);
      for (const run of runs) {
        if (texts.admits(run)) await this.#executor.beginClaimed(run, worker);
        else await releaseRuns(services, worker.id, [run]);
      }
    }
  }

  async #handOver(driver: Extract<Driver, { kind: "server" }>): Promise<void> {
    const services = this.#services;
    // Its heartbeat also replaces workers that died earlier.
    await this.#executor.worker();
    const handedOver = await findHandedOver(services.pool);
    const room = Math.min(SERVER_BACKLOG, this.#slots.total) - handedOver.length;
    if (room <= 0 || services.memory.isTight()) return this.#shareSoon();
    this.#yieldsDue.clear();
    const admitted = await this.#admit(null, room);
    if (admitted.length === 0) return;
    try {
      await driver.handOver(admitted);
    } catch (error) {
      await releaseHandedOver(services, admitted);
      throw error;
    }
  }

  #cancel(runId: string): void {
    this.#executor.abort(runId);
    if (this.#driver.kind === "server") void this.#driver.cancel(runId);
  }

  // Finds what a lost notification would have announced.
  async #poll(): Promise<void> {
    const services = this.#services;
    try {
      for (const run of await findCancelledRuns(services.pool)) {
        if (run.claimed) this.#cancel(run.id);
        else await this.#endCancelled(run);
      }
    } catch (error) {
      services.log.warn("Could not check for cancelled runs; retrying in 1 s", { error });
    }
    await this.#wakeSleepers();
    this.#unexecutedDue = true;
    this.wake();
  }

  // One that cannot be ended does not stop the others.
  async #endCancelled({ id, by }: { id: string; by: string }): Promise<void> {
    try {
      await endUnclaimedRun(this.#services, id, { status: "Cancelled", by });
    } catch (error) {
      this.#services.log.warn("Could not end a cancelled run; retrying in 1 s", { runId: id, error });
    }
  }

  async #wakeSleepers(): Promise<void> {
    const services = this.#services;
    clearTimeout(this.#waking);
    if (this.#stopping) return;
    try {
      const graceMs = this.#driver.kind === "server" ? SLEEPER_GRACE_MS : 0;
      const { woken, nextMs } = await wakeRuns(services, { graceMs });
      if (woken > 0) {
        services.notifications.send("engine", "waiting", "waiting");
        this.wake();
      }
      if (nextMs === null || nextMs > POLL_EVERY_MS) return;
      this.#waking = setTimeout(() => void this.#wakeSleepers(), nextMs);
      this.#waking.unref();
    } catch (error) {
      services.log.warn("Could not wake runs whose wait is over; retrying in 1 s", { error });
    }
  }

  #shareSoon(): void {
    this.#sharing ??= setTimeout(() => {
      this.#sharing = undefined;
      void this.#share().catch((error: unknown) => {
        this.#services.log.warn("Could not check for waiting runs; retrying", { error });
      });
    }, SHARE_EVERY_MS);
    this.#sharing.unref();
  }

  async #share(): Promise<void> {
    if (this.#executor.freeSlots() > 0) {
      this.#yieldsDue.clear();
      return;
    }
    const { pool } = this.#services;
    // Runs are counted last: one that got its slot in the meantime must not make another one yield.
    // A slot would be of no use to a large run without room in memory.
    const values = [isOfSuspects(this.#queue), this.#slots.texts.withoutRoom()];
    const waiting = byOrganization(await countWaiting(pool, values));
    const isEmbedded = this.#driver.kind === "embedded";
    const running = isEmbedded
      ? this.#slots.runningByOrganization()
      : byOrganization(await countInFlight(pool));
    this.#yieldsDue = slotsToYield(
      [...new Set([...running.keys(), ...waiting.keys()])].map((organizationId) => ({
        organizationId,
        running: running.get(organizationId) ?? 0,
        waiting: waiting.get(organizationId) ?? 0,
      })),
    );
    if (waiting.size > 0) this.#shareSoon();
  }
}

function byOrganization(rows: { organizationId: string; runs: number }[]): Map<string, number> {
  return new Map(rows.map(({ organizationId, runs }) => [organizationId, runs]));
}
