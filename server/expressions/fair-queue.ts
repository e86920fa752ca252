/**
 * Work for a bounded number of hands, in turn: of the parties that wait, each gets its next piece of work done before
 * another gets two. No party has more than `most` hands, so that a newcomer finds one.
 */
export class FairQueue {
  readonly #hands: number;
  readonly #most: number;
  #busy = 0;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #working = new Map<string, number>();

  constructor(hands: number, most: number) {
    this.#hands = hands;
    this.#most = most;
  }

  /** Does the work when it is the party's turn; gives what it gives, and throws what it throws. */
  async take<Result>(party: string, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      const waiting = this.#waiting.get(party);
      if (waiting === undefined) this.#waiting.set(party, [begin]);
      else waiting.push(begin);
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      const working = (this.#working.get(party) ?? 1) - 1;
      if (working === 0) this.#working.delete(party);
      else this.#working.set(party, working);
      this.#next();
    }
  }

  #next(): void {
    for (const [party, waiting] of this.#waiting) {
      if (this.#busy === this.#hands) return;
      const working = this.#working.get(party) ?? 0;
      if (working >= this.#most) continue;
      const begin = waiting.shift();
      // Back to the end of the row, if it wants more.
      this.#waiting.delete(party);
      if (waiting.length > 0) this.#waiting.set(party, waiting);
      if (begin === undefined) continue;
      this.#busy += 1;
      this.#working.set(party, working + 1);
      begin();
    }
  }
}
