import { LONGEST_TIMER_MS } from "@/server/base/sleep";
import { YieldSlot } from "../interruptions";
import { WorkerLost } from "../write/writer";

// A wait that is over within this time keeps the run's slot.
const STAY_MS = 1_000;

type Sleeper = { until: Date; leave(reason: YieldSlot): void };

/**
 * Parallel branches of a root run and its children. When all of them sleep, the run leaves its slot: each `sleep`
 * throws YieldSlot with the earliest time.
 */
export class Branches {
  readonly #now: () => Date;
  #active = 1;
  readonly #sleeping = new Set<Sleeper>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  async fork<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
    let left = works.length;
    this.#active += works.length - 1;
    if (left === 0) this.#active += 1;
    const settled = await Promise.allSettled(
      works.map((work) =>
        work().finally(() => {
          left -= 1;
          if (left > 0) this.#rest();
        }),
      ),
    );
    throwFirst(settled);
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Throws YieldSlot, or the signal's reason. */
  async sleep(until: Date, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let end = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const sleeper = { until, leave: reject };
        const onAbort = () => reject(signal.reason);
        const timer = setTimeout(resolve, Math.min(this.#leftUntil(until), LONGEST_TIMER_MS));
        end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          this.#sleeping.delete(sleeper);
          this.#active += 1;
        };
        signal.addEventListener("abort", onAbort, { once: true });
        this.#sleeping.add(sleeper);
        this.#rest();
      });
    } finally {
      end();
    }
  }

  #leftUntil(until: Date): number {
    return Math.max(0, until.getTime() - this.#now().getTime());
  }

  #rest(): void {
    this.#active -= 1;
    if (this.#active > 0) return;
    const [first] = [...this.#sleeping].sort((one, other) => one.until.getTime() - other.until.getTime());
    if (first === undefined || this.#leftUntil(first.until) <= STAY_MS) return;
    for (const sleeper of this.#sleeping)
      sleeper.leave(new YieldSlot("the run waits", { until: first.until }));
  }
}

// If several branches fail: a lost worker first, a slot that is left last. A branch that yields before a call must
// not wait until a sleeping one wakes up, nor one with a time limit until another does.
function rankOf(error: unknown): number {
  if (error instanceof WorkerLost) return 0;
  if (!(error instanceof YieldSlot)) return 1;
  return error.until?.getTime() ?? 2;
}

function throwFirst(settled: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const [first] = reasons.sort((one, other) => rankOf(one) - rankOf(other));
  if (reasons.length > 0) throw first;
}
