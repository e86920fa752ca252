import { performance } from "node:perf_hooks";
import type { OrgId } from "@/server/base/actor";

const BURST_MS = 100;
// With fewer executing runs, starts and steps do not slow each other down.
const FEW_RUNS = 4;
const TICK_MS = 10;
// More starts in progress at once delay each other, so steps wait.
const FEW_STARTS = 8;
// For this long, steps also wait for few starts while the event loop is busy. Later they do not: steady traffic must not
// leave more and more runs waiting.
const SURGE_MS = 1_500;
// The share of the event loop's busy time up to which more steps begin. It is lower while a caller sends start after start,
// because each step delays its next one.
const BUSY = 0.6;
const BUSY_WITH_MANY_STARTS = 0.3;
// Starts per tick, on average over the last ticks. Steady traffic that a process can execute has fewer.
const MANY_STARTS = 2.3;
const AVERAGED_TICKS = 8;
// A surge begins after this long without a start.
const QUIET_MS = 500;
// Steps per tick: the most while starts are delayed, the fewest after a surge, the most in a surge and after it.
const FEW_STEPS = 8;
const LEAST_STEPS = 4;
const STEPS_IN_SURGE = 16;
const MAX_STEPS = 1_024;

/**
 * Gives starts priority over steps: if starts are delayed while several runs execute, only a few steps begin in each
 * tick, and then more in each further one. Otherwise a step begins immediately. A step is a model call or a round of
 * calls (docs/decisions/0041-starts-before-steps.md).
 */
export class StepThrottle {
  readonly #executing: () => number;
  readonly #starting: () => number;
  readonly #waiting = new Map<OrgId, (() => void)[]>();
  #lastStartAt = Number.NEGATIVE_INFINITY;
  #surgeAt = 0;
  /** The most starts in progress at once in this tick. */
  #mostStarts = 0;
  #startsInTick = 0;
  #startsPerTick = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Steps per tick, and the rest in this one. */
  #steps = 1;
  #left = 1;
  #usage = performance.eventLoopUtilization();

  /** `executing`: runs; `starting`: starts without a response. */
  constructor({ executing, starting }: { executing: () => number; starting: () => number }) {
    this.#executing = executing;
    this.#starting = starting;
  }

  noteStart(): void {
    const now = performance.now();
    if (now - this.#lastStartAt > QUIET_MS) this.#surgeAt = now;
    this.#lastStartAt = now;
    this.#mostStarts = Math.max(this.#mostStarts, this.#starting());
    this.#startsInTick += 1;
  }

  /** Undefined when the step may begin immediately. */
  next(orgId: OrgId): Promise<void> | undefined {
    if (!this.#isBurst() || (this.#waiting.size === 0 && this.#executing() < FEW_RUNS)) return undefined;
    this.#timer ??= this.#firstTick();
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

  // Earlier starts were not counted by tick.
  #firstTick(): NodeJS.Timeout {
    this.#startsInTick = 0;
    this.#startsPerTick = 0;
    return setTimeout(() => this.#tick(), TICK_MS);
  }

  #isBurst(): boolean {
    return performance.now() - this.#lastStartAt < BURST_MS;
  }

  #tick(): void {
    const usage = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(usage, this.#usage);
    this.#usage = usage;
    const isSurge = performance.now() - this.#surgeAt < SURGE_MS;
    this.#startsPerTick += (this.#startsInTick - this.#startsPerTick) / AVERAGED_TICKS;
    this.#startsInTick = 0;
    const busy = this.#startsPerTick < MANY_STARTS ? BUSY : BUSY_WITH_MANY_STARTS;
    const most = isSurge ? STEPS_IN_SURGE : MAX_STEPS;
    if (this.#mostStarts === 0) this.#steps = most;
    else if (this.#mostStarts <= FEW_STARTS && !(isSurge && utilization > busy)) {
      this.#steps = Math.min(most, this.#steps * 2);
    } else {
      const least = isSurge ? 1 : LEAST_STEPS;
      this.#steps = Math.max(least, Math.min(FEW_STEPS, Math.ceil(this.#steps / 2)));
    }
    this.#mostStarts = this.#starting();
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
