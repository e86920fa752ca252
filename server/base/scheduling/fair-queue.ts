type Waiting = { begin: () => void; cost: number; isHeldUp: (() => boolean) | undefined };
export type Entry = {
  /** Does not wait. A negative number releases slots. */
  grow(cost: number): void;
  /** Later calls, also of `grow`, do nothing. */
  leave(): void;
};

type Work = { cost?: number; signal?: AbortSignal | undefined; isHeldUp?: (() => boolean) | undefined };

type Options = {
  /** True if organizations without work in progress may exceed the slots, up to twice the slots. */
  hasSpare?: () => boolean;
  /** Slots left for organizations whose work is short. */
  reserved?: number;
};

// Longer work makes its organization slow, for a while after its end.
const SLOW_AFTER_MS = 1_000;
const SLOW_FOR_MS = 60_000;

/**
 * Shares slots fairly: each waiting organization gets one piece of work done before another gets two. None has more
 * than `slotsEach` slots. Work that takes more than there are starts when its organization, or the queue, has no
 * other.
 */
export class FairQueue {
  readonly #slots: number;
  readonly #slotsEach: number;
  readonly #options: Options;
  #busy = 0;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #working = new Map<string, number>();
  /** The times are in ms of the process's monotonic clock. */
  readonly #slow = new Map<string, number>();

  constructor(slots: number, slotsEach: number, options: Options = {}) {
    this.#slots = slots;
    this.#slotsEach = slotsEach;
    this.#options = options;
  }

  /** Throws the error of the work, or the signal's reason if it was aborted while the work waited. */
  async take<Result>(
    organizationId: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { leave } = await this.enter(organizationId, { signal });
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** While `isHeldUp`, the organization's other work goes first. Throws the signal's reason if it is aborted before. */
  async enter(organizationId: string, { cost = 1, signal, isHeldUp }: Work = {}): Promise<Entry> {
    signal?.throwIfAborted();
    await new Promise<void>((begin, reject) => {
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", onAbort);
          begin();
        },
        cost,
        isHeldUp,
      };
      const onAbort = () => {
        this.#remove(organizationId, waiting);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      const others = this.#waiting.get(organizationId);
      if (others === undefined) this.#waiting.set(organizationId, [waiting]);
      else others.push(waiting);
      this.admit();
    });
    return this.#entryOf(organizationId, cost);
  }

  /** Returns true if work of this cost would start now. */
  hasRoom(organizationId: string, cost: number): boolean {
    return this.#mayBegin(organizationId, cost);
  }

  /** Enters without waiting, even beyond the slots. */
  enterNow(organizationId: string, cost: number): Entry {
    this.#count(organizationId, cost);
    return this.#entryOf(organizationId, cost);
  }

  #entryOf(organizationId: string, cost: number): Entry {
    const beganAt = performance.now();
    let held = cost;
    let isOver = false;
    return {
      grow: (more) => {
        if (isOver) return;
        held += more;
        this.#count(organizationId, more);
        if (more < 0) this.admit();
      },
      leave: () => {
        if (isOver) return;
        isOver = true;
        this.#count(organizationId, -held);
        this.#noteDuration(organizationId, performance.now() - beganAt);
        this.admit();
      },
    };
  }

  #count(organizationId: string, cost: number): void {
    this.#busy += cost;
    const working = (this.#working.get(organizationId) ?? 0) + cost;
    if (working === 0) this.#working.delete(organizationId);
    else this.#working.set(organizationId, working);
  }

  #noteDuration(organizationId: string, ms: number): void {
    if ((this.#options.reserved ?? 0) === 0) return;
    const now = performance.now();
    if (ms > SLOW_AFTER_MS) this.#slow.set(organizationId, now + SLOW_FOR_MS);
    for (const [slow, until] of this.#slow) if (until < now) this.#slow.delete(slow);
  }

  #remove(organizationId: string, gone: Waiting): void {
    const left = (this.#waiting.get(organizationId) ?? []).filter((each) => each !== gone);
    if (left.length > 0) this.#waiting.set(organizationId, left);
    else this.#waiting.delete(organizationId);
    // Work that waited behind it may fit.
    this.admit();
  }

  #mayBegin(organizationId: string, cost: number): boolean {
    const working = this.#working.get(organizationId) ?? 0;
    if (working > 0 && working + cost > this.#slotsEach) return false;
    if (this.#busy === 0) return true;
    const { hasSpare, reserved = 0 } = this.#options;
    const isSlow = (this.#slow.get(organizationId) ?? 0) > performance.now();
    if (this.#busy + cost <= this.#slots - (isSlow ? reserved : 0)) return true;
    return working === 0 && this.#busy + cost <= 2 * this.#slots && hasSpare?.() === true;
  }

  /** Call it when work is no longer held up. */
  admit(): void {
    // Much work may be held up for the same reason.
    const known = new Map<() => boolean, boolean>();
    const isFree = ({ isHeldUp }: Waiting): boolean => {
      if (isHeldUp === undefined) return true;
      const heldUp = known.get(isHeldUp) ?? isHeldUp();
      known.set(isHeldUp, heldUp);
      return !heldUp;
    };
    for (const [organizationId, waiting] of this.#waiting) {
      if (this.#busy >= this.#slots && this.#options.hasSpare === undefined) return;
      const at = waiting.findIndex(isFree);
      const first = waiting[at];
      if (first === undefined || !this.#mayBegin(organizationId, first.cost)) continue;
      waiting.splice(at, 1);
      // Moves it to the end of the queue, if it has more work.
      this.#waiting.delete(organizationId);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
      this.#count(organizationId, first.cost);
      first.begin();
    }
  }
}
