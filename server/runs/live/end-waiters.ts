import { z } from "zod";
import type { Notifications } from "@/server/base/db/notifications";
import { defineQuery, type Queryable } from "@/server/base/db/statement";
import { isAppError } from "@/server/base/errors";
import { listenToRun, type Subscription } from "@/server/runs/run-changes";

// Notifications of one run's steps come close together.
const GATHER_MS = 25;
const TICK_MS = 1_000;
// Notifications may be lost. Without a connection for them, every tick asks.
const ASK_EVERY_TICKS = 5;

/** A waiting call. `caller` names who waits: `confirm` is called once a second for all its calls. */
type WaitingCall = {
  caller: string;
  /** Throws an AppError when the caller may no longer read the run. */
  confirm(): Promise<unknown>;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
};
type Waiter = WaitingCall & { end(): void };

const FIND_ENDED = defineQuery(
  "find-ended-runs",
  z.object({ id: z.string() }),
  "SELECT id FROM runs WHERE id = ANY($1::uuid[]) AND finished_at IS NOT NULL",
);

/**
 * Holds the calls of a process that wait for the ends of runs. They share one listener, one timer and one statement,
 * which asks about runs that changed.
 */
export class EndWaiters {
  readonly #services: { pool: Queryable; notifications: Notifications };
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #subscriptions = new Map<string, Subscription>();
  #changed = new Set<string>();
  #asking: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #ticks = 0;
  #closed = false;

  constructor(services: { pool: Queryable; notifications: Notifications }) {
    this.#services = services;
  }

  /** The process stops: waits resolve at once. */
  get isClosed(): boolean {
    return this.#closed;
  }

  get size(): number {
    let size = 0;
    for (const waiters of this.#waiting.values()) size += waiters.size;
    return size;
  }

  /** Resolves when the run has ended, after `ms`, when the client leaves, its access ends, or this process stops. */
  wait(runId: string, { ms, ...call }: WaitingCall & { ms: number }): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const { signal } = call;
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#remove(runId, waiter);
        resolve();
      };
      const waiter = { ...call, end };
      const timer = setTimeout(end, ms);
      this.#add(runId, waiter);
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    });
  }

  close(): void {
    this.#closed = true;
    for (const waiter of this.#all()) waiter.end();
  }

  #all(): Waiter[] {
    return [...this.#waiting.values()].flatMap((waiters) => [...waiters]);
  }

  #add(runId: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(runId) ?? new Set();
    this.#waiting.set(runId, waiters.add(waiter));
    // The run may have ended before.
    this.#ask(runId);
    if (!this.#subscriptions.has(runId))
      this.#subscriptions.set(
        runId,
        listenToRun(this.#services, runId, () => this.#ask(runId)),
      );
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  #remove(runId: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(runId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) {
      this.#waiting.delete(runId);
      this.#subscriptions.get(runId)?.unsubscribe();
      this.#subscriptions.delete(runId);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % ASK_EVERY_TICKS === 0 || !this.#services.notifications.connected()) this.#askAll();
    const byCaller = new Map<string, Waiter[]>();
    for (const waiter of this.#all()) {
      const others = byCaller.get(waiter.caller);
      if (others === undefined) byCaller.set(waiter.caller, [waiter]);
      else others.push(waiter);
    }
    for (const waiters of byCaller.values()) {
      waiters[0]?.confirm().catch((error: unknown) => {
        // An outage of the database says nothing about the caller.
        if (isAppError(error)) for (const waiter of waiters) waiter.end();
      });
    }
  }

  #askAll(): void {
    for (const runId of this.#waiting.keys()) this.#ask(runId);
  }

  #ask(runId: string): void {
    if (!this.#waiting.has(runId)) return;
    this.#changed.add(runId);
    this.#asking ??= setTimeout(() => {
      const ids = [...this.#changed];
      this.#changed = new Set();
      this.#asking = undefined;
      FIND_ENDED(this.#services.pool, [ids]).then(
        (ended) => {
          for (const { id } of ended) for (const waiter of this.#waiting.get(id) ?? []) waiter.end();
        },
        // The next tick asks again.
        () => {},
      );
    }, GATHER_MS);
  }
}
