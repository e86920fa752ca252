/**
 * Lets runs take turns with starts. While starts come in, few acts begin in one turn of the event loop, the more the longer the
 * last turn took: a burst is accepted quickly, and the runs go on all the same. Otherwise an act begins at once.
 */

/** For each so many milliseconds that a turn of the event loop took, one act begins in the next one. */
const MS_PER_ACT = 2;
const MIN_ACTS = 2;
/** A burst is over when no start has come for so long. */
const BURST_MS = 100;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;
  #lastTurnAt = 0;
  #lastStartAt = Number.NEGATIVE_INFINITY;

  /** Notes that a start came in. */
  noteStart(): void {
    this.#lastStartAt = performance.now();
  }

  /** Resolves when the next act of a run may begin; undefined when it may at once. */
  next(): Promise<void> | undefined {
    if (!this.#isBurst(performance.now())) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #isBurst(now: number): boolean {
    return now - this.#lastStartAt < BURST_MS;
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    const now = performance.now();
    const share = Math.max(MIN_ACTS, (now - this.#lastTurnAt) / MS_PER_ACT);
    this.#lastTurnAt = now;
    this.#scheduled = false;
    for (const next of this.#waiting.splice(0, this.#isBurst(now) ? share : this.#waiting.length)) next();
    this.#schedule();
  }
}
