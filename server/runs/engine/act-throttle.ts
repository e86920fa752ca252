import { performance } from "node:perf_hooks";
import type { OrgId } from "@/server/base/actor";

const BURST_MS = 100;
/** With fewer executing runs, starts and acts do not slow each other down. */
const FEW_RUNS = 4;
const TICK_MS = 10;
/** Above this share of busy time of the event loop, fewer acts begin. */
const BUSY = 0.6;
const MAX_ACTS = 16;

/**
 * Gives starts priority over acts: while starts arrive and several runs execute, only some acts begin in each tick.
 * Otherwise an act begins immediately.
 */
export class ActThrottle {
  readonly #executing: () => number;
  readonly #waiting = new Map<OrgId, (() => void)[]>();
  #lastStartAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Acts per tick, and the rest in this one. */
  #acts = 1;
  #left = 1;
  #usage = performance.eventLoopUtilization();

  constructor(executing: () => number) {
    this.#executing = executing;
  }

  noteStart(): void {
    this.#lastStartAt = performance.now();
  }

  /** Undefined when the act may begin immediately. */
  next(orgId: OrgId): Promise<void> | undefined {
    if (!this.#isBurst() || (this.#waiting.size === 0 && this.#executing() < FEW_RUNS)) return undefined;
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS);
    if (this.#waiting.size === 0 && this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const acts = this.#waiting.get(orgId);
      if (acts === undefined) this.#waiting.set(orgId, [resolve]);
      else acts.push(resolve);
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
    const isBurst = this.#isBurst();
    const started = this.#begin(isBurst ? this.#acts : Number.POSITIVE_INFINITY);
    this.#left = isBurst ? this.#acts - started : this.#acts;
    this.#timer = isBurst ? setTimeout(() => this.#tick(), TICK_MS) : undefined;
  }

  /** Map iteration visits a key again after it was set again. */
  #begin(count: number): number {
    let started = 0;
    for (const [orgId, acts] of this.#waiting) {
      if (started === count) break;
      started += 1;
      acts.shift()?.();
      this.#waiting.delete(orgId);
      if (acts.length > 0) this.#waiting.set(orgId, acts);
    }
    return started;
  }
}
