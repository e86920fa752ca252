/**
 * A bounded number of slots, shared fairly: each waiting organization gets one piece of work done before another gets
 * two. No organization has more than `slotsEach` slots, so others always find one.
 */
export class FairQueue {
  readonly #slots: number;
  readonly #slotsEach: number;
  #busy = 0;
  /** In the order in which organizations are served. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #working = new Map<string, number>();

  constructor(slots: number, slotsEach: number) {
    this.#slots = slots;
    this.#slotsEach = slotsEach;
  }

  /**
   * Does the work when the organization gets a slot; returns its result or throws its error. Throws the signal's reason
   * if it was aborted while the work waited.
   */
  async take<Result>(
    organizationId: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    await new Promise<void>((begin) => {
      const waiting = this.#waiting.get(organizationId);
      if (waiting === undefined) this.#waiting.set(organizationId, [begin]);
      else waiting.push(begin);
      this.#admit();
    });
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#busy -= 1;
      const working = (this.#working.get(organizationId) ?? 1) - 1;
      if (working === 0) this.#working.delete(organizationId);
      else this.#working.set(organizationId, working);
      this.#admit();
    }
  }

  #admit(): void {
    for (const [organizationId, waiting] of this.#waiting) {
      if (this.#busy === this.#slots) return;
      const working = this.#working.get(organizationId) ?? 0;
      if (working >= this.#slotsEach) continue;
      const begin = waiting.shift();
      // Moves it to the end of the queue, if it has more work.
      this.#waiting.delete(organizationId);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
      if (begin === undefined) continue;
      this.#busy += 1;
      this.#working.set(organizationId, working + 1);
      begin();
    }
  }
}
