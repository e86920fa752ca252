import { performance } from "node:perf_hooks";
import type { OrgId } from "@/server/auth/actor";

/**
 * Gives starts priority over acts of runs. While starts arrive and several runs execute, acts begin together once per
 * tick, and only as many as leave the event loop time for starts. Otherwise an act begins at once.
 */

/** A burst of starts is over when none has come for this long. */
const BURST_MS = 100;
/** With fewer executing runs, starts and acts do not slow each other down. */
const FEW_RUNS = 8;
const TICK_MS = 10;
/** The share of its time that the event loop may be busy before fewer acts begin. */
const BUSY = 0.6;
const MAX_ACTS = 16;

export class Turns {
  readonly #executing: () => number;
  /** Waiting acts by organization; organizations are served in turn. */
  readonly #waiting = new Map<OrgId, (() => void)[]>();
  #lastStartAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** How many acts begin at the next tick. */
  #acts = 1;
  #usage = performance.eventLoopUtilization();

  /** `executing`: how many runs execute in this process. */
  constructor(executing: () => number) {
    this.#executing = executing;
  }

  /** Notes that a start came in. */
  noteStart(): void {
    this.#lastStartAt = performance.now();
  }

  /** Resolves when the next act of one of the organization's runs may begin; undefined when it may at once. */
  next(orgId: OrgId): Promise<void> | undefined {
    if (!this.#isBurst() || (this.#waiting.size === 0 && this.#executing() < FEW_RUNS)) return undefined;
    return new Promise((resolve) => {
      const acts = this.#waiting.get(orgId);
      if (acts === undefined) this.#waiting.set(orgId, [resolve]);
      else acts.push(resolve);
      this.#timer ??= setTimeout(() => this.#tick(), TICK_MS);
    });
  }

  #isBurst(): boolean {
    return performance.now() - this.#lastStartAt < BURST_MS;
  }

  #tick(): void {
    const usage = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(usage, this.#usage);
    this.#usage = usage;
    this.#acts = utilization > BUSY ? Math.ceil(this.#acts / 2) : Math.min(MAX_ACTS, this.#acts * 2);
    this.#begin(this.#isBurst() ? this.#acts : Number.POSITIVE_INFINITY);
    this.#timer = this.#waiting.size > 0 ? setTimeout(() => this.#tick(), TICK_MS) : undefined;
  }

  /** Begins up to `count` acts, one per organization in turn. Map iteration visits a key again after it was set again. */
  #begin(count: number): void {
    let left = count;
    for (const [orgId, acts] of this.#waiting) {
      if (left === 0) return;
      left -= 1;
      acts.shift()?.();
      this.#waiting.delete(orgId);
      if (acts.length > 0) this.#waiting.set(orgId, acts);
    }
  }
}
