import { performance } from "node:perf_hooks";
import type { OrgId } from "@/server/base/actor";

const BURST_MS = 100;
// With fewer executing runs, starts and steps do not slow each other down.
const FEW_RUNS = 4;
const TICK_MS = 10;
// Above this share of busy time of the event loop, fewer steps begin.
const BUSY = 0.6;
const MAX_STEPS = 16;

/**
 * Gives starts priority over steps: while starts arrive and several runs execute, only some steps begin in each tick.
 * Otherwise a step begins immediately. A step is a model call or a round of calls.
 */
export class StepThrottle {
  readonly #executing: () => number;
  readonly #waiting = new Map<OrgId, (() => void)[]>();
  #lastStartAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Steps per tick, and the rest in this one. */
  #steps = 1;
  #left = 1;
  #usage = performance.eventLoopUtilization();

  constructor(executing: () => number) {
    this.#executing = executing;
  }

  noteStart(): void {
    this.#lastStartAt = performance.now();
  }

  /** Undefined when the step may begin immediately. */
  next(orgId: OrgId): Promise<void> | undefined {
    if (!this.#isBurst() || (this.#waiting.size === 0 && this.#executing() < FEW_RUNS)) return undefined;
    this.#timer ??= setTimeout(() => this.#tick(), TICK_MS);
    if (this.#waiting.size === 0 && this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const steps = this.#waiting.get(orgId);
      if (steps === undefined) this.#waiting.set(orgId, [resolve]);
      else steps.push(resolve);
    });
  }

  #isBurst(): boolean {
    return performance.now() - this.#lastStartAt < BURST_MS;
  }

  #tick(): void {
    const usage = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(usage, this.#usage);
    this.#usage = usage;
    this.#steps = utilization > BUSY ? Math.ceil(this.#steps / 2) : Math.min(MAX_STEPS, this.#steps * 2);
    const isBurst = this.#isBurst();
    const started = this.#begin(isBurst ? this.#steps : Number.POSITIVE_INFINITY);
    this.#left = isBurst ? this.#steps - started : this.#steps;
    this.#timer = isBurst ? setTimeout(() => this.#tick(), TICK_MS) : undefined;
  }

  // Map iteration visits a key again after it was set again.
  #begin(count: number): number {
    let started = 0;
    for (const [orgId, steps] of this.#waiting) {
      if (started === count) break;
      started += 1;
      steps.shift()?.();
      this.#waiting.delete(orgId);
      if (steps.length > 0) this.#waiting.set(orgId, steps);
    }
    return started;
  }
}
