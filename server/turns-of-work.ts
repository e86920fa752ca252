import { setImmediate } from "node:timers/promises";

/** How long one piece of work may hold the process before others get a turn. */
const SLICE_MS = 4;

/** The turns that were asked for last: only one piece of work continues per turn of the event loop. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Divides long work on the main thread. Ask `isOver` between its parts, and await `end()` if it is: then requests and
 * other work of this kind come first, whosever it is.
 */
export class Turns {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async end(): Promise<void> {
    const turn = last.then(() => setImmediate());
    last = turn;
    await turn;
    this.#since = performance.now();
  }
}
