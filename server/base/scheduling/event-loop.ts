import { setImmediate } from "node:timers/promises";

const SLICE_MS = 4;

// Only one piece of work continues per turn of the event loop.
let last: Promise<unknown> = Promise.resolve();

/** Resolves in a turn of the event loop of its own: call it before work on a long text that cannot be divided. */
export async function takeTurn(): Promise<void> {
  const wait = last.then(() => setImmediate());
  last = wait;
  await wait;
}

/**
 * Divides long work into short slices. Check `isOver` between parts, and if true await `next()`: requests and other
 * divided work come first.
 */
export class WorkSlice {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async next(): Promise<void> {
    await takeTurn();
    this.#since = performance.now();
  }
}
