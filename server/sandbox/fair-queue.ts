/**
 * Work for a bounded number of slots, shared fairly: of the organizations that wait, each gets its next piece of work
 * done before another gets two. No organization has more than `slotsEach` slots, so that another one always finds one.
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

  /** Does the work when a slot is free for the organization; returns what it returns, and throws what it throws. */
  async take<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      const waiting = this.#waiting.get(organizationId);
      if (waiting === undefined) this.#waiting.set(organizationId, [begin]);
      else waiting.push(begin);
      this.#admit();
    });
    try {
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
      // Back to the end of the line, if it has more to do.
      this.#waiting.delete(organizationId);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
      if (begin === undefined) continue;
      this.#busy += 1;
      this.#working.set(organizationId, working + 1);
      begin();
    }
  }
}
