import { setImmediate } from "node:timers/promises";

/** The longest time for which one piece of work holds the main thread. */
const SLICE_MS = 4;

/** The wait that was asked for last: only one piece of work continues per turn of the event loop. */
let last: Promise<unknown> = Promise.resolve();

/** Resolves in a turn of the event loop of its own: call it before work on a long text that cannot be divided. */
export async function takeTurn(): Promise<void> {
  const wait = last.then(() => setImmediate());
  last = wait;
  await wait;
}

/**
 * Divides long work on the main thread into short slices. Check `isOver` between the parts of the work, and await
 * `next()` if it is. Requests come first then, and other divided work gets its slice.
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
