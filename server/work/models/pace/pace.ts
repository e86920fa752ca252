import type { Clock } from "@/server/base/clock";
import type { Allowance } from "./allowance";

/** A call that was sent. It is proven when its response begins, or after a second: rejections come faster. */
export type Departure = { at: number; acceptedAt?: number };

type Waiting = { depart: (departure: Departure) => void };
type Tools = {
  clock: Clock;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

const PROVEN_AFTER_MS = 1_000;
// The calls that may be unproven at first, and the further ones for each proven call.
const FIRST_WINDOW = 10;
const WINDOW_GROWTH = 1 / 8;
/** If a provider asks for a longer wait, its calls fail. */
export const LONGEST_WAIT_MS = 60_000;
const LONGEST_OWN_WAIT_MS = 20_000;
// After a rejection, the interval of calls is this much longer than the accepted one.
const MARGIN = 1.05;
const UNKNOWN_INTERVAL_MS = 1_000;
// Factors of the interval: for every accepted call, and for a rejection.
const RECOVERY = 0.985;
const SLOWER = 1.5;
// For a rejection after fewer accepted calls than `FEW`.
const MUCH_SLOWER = 3;
const FEW = 8;
const LEAST_INTERVAL_MS = 5;
const SILENT = 16;
const MAX_REMEMBERED = 256;

/**
 * Decides when the calls of one provider and organization may be sent, in order. A new provider gets few calls at
 * once until it has accepted some. After a rejection, all calls wait as long as the provider asks, then follow each
 * other at the interval at which it accepted calls, which shrinks with each accepted call.
 */
export class Pace {
  readonly #tools: Tools;
  readonly #waiting: Waiting[] = [];
  readonly #unproven = new Set<Departure>();
  readonly #acceptedAt: number[] = [];
  #window = FIRST_WINDOW;
  #allowance: { calls: number; until: number } | null = null;
  #blockedUntil = 0;
  #interval = 0;
  #nextAt = 0;
  #slowedAt = Number.NEGATIVE_INFINITY;
  #acceptedSince = 0;
  #rejectionsInRow = 0;
  #silent = 0;
  #timer: { wakesAt: number; stop: AbortController } | null = null;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  get readsAllowance(): boolean {
    return this.#silent < SILENT || this.#silent % SILENT === 0;
  }

  get expectedWaitMs(): number {
    const now = this.#now();
    const delay = this.#delay(now);
    return delay === 0 && this.#waiting.length === 0 ? 0 : delay + this.#waiting.length * this.#interval;
  }

  tryDepart(): Departure | null {
    return this.#waiting.length === 0 && this.#delay(this.#now()) === 0 ? this.#send() : null;
  }

  /** Throws the signal's reason if it is aborted before. */
  async depart(signal: AbortSignal): Promise<Departure> {
    const departure = this.tryDepart();
    if (departure !== null) return departure;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        depart(departure) {
          signal.removeEventListener("abort", leave);
          resolve(departure);
        },
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
      this.#admit();
    });
  }

  /** Call it when the response has started. */
  accepted(departure: Departure, allowance: Allowance | null): void {
    const now = this.#now();
    this.#prove(departure);
    departure.acceptedAt = now;
    this.#acceptedAt.push(now);
    if (this.#acceptedAt.length > MAX_REMEMBERED) this.#acceptedAt.shift();
    this.#acceptedSince += 1;
    this.#silent = allowance === null ? this.#silent + 1 : 0;
    this.#interval = this.#interval < LEAST_INTERVAL_MS ? 0 : this.#interval * RECOVERY;
    this.#note(allowance, now);
    this.#admit();
  }

  /**
   * Call it if the provider has too many calls, also for an accepted call whose response has the error. `waitMs`: the
   * wait that the provider asks for.
   */
  rejected(departure: Departure, waitMs: number | undefined): void {
    const now = this.#now();
    this.#unproven.delete(departure);
    // Calls that were sent together are rejected together: that is one lesson.
    const isNews = departure.at > this.#slowedAt;
    if (departure.acceptedAt !== undefined) {
      const index = this.#acceptedAt.lastIndexOf(departure.acceptedAt);
      if (index >= 0) this.#acceptedAt.splice(index, 1);
      if (isNews) this.#acceptedSince -= 1;
    }
    if (isNews) this.#rejectionsInRow = this.#acceptedSince > 0 ? 1 : this.#rejectionsInRow + 1;
    const own = Math.min(LONGEST_OWN_WAIT_MS, 1_000 * 2 ** (this.#rejectionsInRow - 1));
    const wait = Math.min(LONGEST_WAIT_MS, waitMs ?? own);
    this.#blockedUntil = Math.max(this.#blockedUntil, now + wait);
    if (isNews) this.#slowDown(now, wait);
    this.#admit();
  }

  ended(departure: Departure): void {
    if (this.#unproven.delete(departure)) this.#admit();
  }

  #slowDown(now: number, wait: number): void {
    const factor = this.#acceptedSince < FEW ? MUCH_SLOWER : SLOWER;
    const interval =
      this.#interval === 0
        ? (this.#intervalOf(Math.max(1_000, wait), now) ?? UNKNOWN_INTERVAL_MS)
        : this.#interval * factor;
    // Limits are mostly those of a minute.
    const most = (this.#intervalOf(LONGEST_WAIT_MS, now) ?? LONGEST_WAIT_MS) * SLOWER;
    this.#interval = Math.min(interval, most, LONGEST_WAIT_MS);
    this.#window = 1;
    this.#slowedAt = now;
    this.#acceptedSince = 0;
  }

  /** Null if no calls were accepted in the last `span` milliseconds. */
  #intervalOf(span: number, now: number): number | null {
    const accepted = this.#acceptedAt.filter((at) => at > now - span).length;
    return accepted === 0 ? null : (span / accepted) * MARGIN;
  }

  #note(allowance: Allowance | null, now: number): void {
    // An allowance that is renewed later than calls may wait is ignored; the provider then rejects calls.
    if (allowance === null || allowance.ms > LONGEST_WAIT_MS) return;
    this.#countUnproven(now);
    // The provider may not have counted these yet.
    const calls = Math.max(0, allowance.calls - this.#unproven.size);
    const known = this.#allowance;
    const isSame = known !== null && known.until > now;
    // Responses come in any order: the one that leaves the least is the latest.
    this.#allowance = { calls: isSame ? Math.min(known.calls, calls) : calls, until: now + allowance.ms };
    // The provider counts for us.
    this.#window = Math.max(this.#window, calls);
  }

  #delay(now: number): number {
    let at = Math.max(this.#blockedUntil, this.#nextAt);
    const { calls = 1, until = 0 } = this.#allowance ?? {};
    if (calls < 1) at = Math.max(at, until);
    if (at > now) return at - now;
    // After a used-up allowance, the next one is unknown: calls begin with the first window.
    if (this.#allowance !== null && until <= now) {
      if (calls < 1) this.#window = Math.min(this.#window, FIRST_WINDOW);
      this.#allowance = null;
    }
    const oldest = this.#countUnproven(now) < this.#window ? undefined : this.#unproven.values().next().value;
    return oldest === undefined ? 0 : oldest.at + PROVEN_AFTER_MS - now;
  }

  #countUnproven(now: number): number {
    for (const departure of this.#unproven) {
      if (departure.at + PROVEN_AFTER_MS > now) break;
      this.#prove(departure);
    }
    return this.#unproven.size;
  }

  #prove(departure: Departure): void {
    if (this.#unproven.delete(departure)) this.#window += WINDOW_GROWTH;
  }

  #send(): Departure {
    const departure = { at: this.#now() };
    this.#unproven.add(departure);
    this.#nextAt = departure.at + this.#interval;
    if (this.#allowance !== null) this.#allowance.calls -= 1;
    return departure;
  }

  #admit(): void {
    while (this.#waiting.length > 0) {
      const delay = this.#delay(this.#now());
      if (delay > 0) {
        this.#wakeAfter(delay);
        return;
      }
      this.#waiting.shift()?.depart(this.#send());
    }
    this.#timer?.stop.abort();
    this.#timer = null;
  }

  #wakeAfter(ms: number): void {
    const wakesAt = this.#now() + ms;
    // One that wakes earlier finds the rest of the wait.
    if (this.#timer !== null && this.#timer.wakesAt <= wakesAt) return;
    this.#timer?.stop.abort();
    const timer = { wakesAt, stop: new AbortController() };
    this.#timer = timer;
    const wake = () => {
      if (this.#timer !== timer) return;
      this.#timer = null;
      this.#admit();
    };
    this.#tools.sleep(ms, timer.stop.signal).then(wake, () => {});
  }

  #now(): number {
    return this.#tools.clock.monotonicMs();
  }
}
