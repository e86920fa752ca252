/** A time in ms that another clock showed, and when it was asked for and received by this process's monotonic clock. */
type ClockReading = { shown: number; askedAt: number; receivedAt: number };

/**
 * Estimates how far another clock is ahead of this process's monotonic clock. Answers may take any time, so that
 * each reading allows a range.
 */
export class ClockOffset {
  #aheadMs: number;

  constructor(aheadMs: number) {
    this.#aheadMs = aheadMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Moves the offset to the nearest one that the reading allows. Returns by how much. */
  learn({ shown, askedAt, receivedAt }: ClockReading): number {
    const before = this.#aheadMs;
    this.#aheadMs = Math.min(Math.max(before, shown - receivedAt), shown - askedAt);
    return this.#aheadMs - before;
  }
}
