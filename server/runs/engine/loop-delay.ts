/** The interval at which the event loop's delay is measured. */
export const TICK_MS = 50;
const WINDOW_MS = 60_000;

/** Delays of timers within the last minute, in ms. One stall is too short to change the p99, so the longest is separate. */
export class LoopDelay {
  readonly #now: () => number;
  readonly #delays = new Float64Array(WINDOW_MS / TICK_MS);
  #next = 0;
  #dueAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#dueAt = now() + TICK_MS;
  }

  /** Call it in a timer of `TICK_MS`. A stall counts once for each tick that it held up. */
  tick(): void {
    const at = this.#now();
    const longest = Math.min(at - this.#dueAt, WINDOW_MS - TICK_MS);
    for (let delay = Math.max(0, longest); ; delay -= TICK_MS) {
      this.#delays[this.#next] = delay;
      this.#next = (this.#next + 1) % this.#delays.length;
      if (delay < TICK_MS) break;
    }
    this.#dueAt = at + TICK_MS;
  }

  read(): { p99: number; longest: number } {
    const sorted = this.#delays.toSorted();
    const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    return { p99: at(0.99), longest: at(1) };
  }
}
