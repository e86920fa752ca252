import type { Clock } from "@/server/base/clock";
import type { ProviderError } from "@/server/work/models/errors/provider-error";
import { ReplyError, ResponseError } from "@/server/work/models/errors/replies";
import type { Attempt, ModelRequest } from "@/server/work/models/port";
import { readAllowance } from "./allowance";
import { type Departure, LONGEST_WAIT_MS, type Pace } from "./pace";

const SHOWN_WAIT_MS = 1_000;

/** The turns of one model call's attempts among the calls of its provider and organization. */
export class Turns {
  readonly #pace: Pace;
  readonly #clock: Clock;
  #departure: Departure | null = null;

  constructor(pace: Pace, clock: Clock) {
    this.#pace = pace;
    this.#clock = clock;
  }

  get expectedWaitMs(): number {
    return this.#pace.expectedWaitMs;
  }

  tryTake(): boolean {
    this.#departure = this.#pace.tryDepart();
    return this.#departure !== null;
  }

  /** A wait that no earlier attempt announced is added to the attempts. Throws the signal's reason. */
  async take(attempts: Attempt[], { signal, onRetry }: ModelRequest): Promise<void> {
    const ms = this.#pace.expectedWaitMs;
    if (ms < SHOWN_WAIT_MS || attempts.at(-1)?.retryAt !== undefined) {
      this.#departure = await this.#pace.depart(signal);
      return;
    }
    const begin = this.#clock.now();
    const wait = { startedAt: begin.toISOString(), durationMs: 0, error: null, waited: true } as const;
    await onRetry?.([...attempts, { ...wait, retryAt: new Date(begin.getTime() + ms).toISOString() }]);
    this.#departure = await this.#pace.depart(signal);
    attempts.push({ ...wait, durationMs: Math.max(0, this.#clock.now().getTime() - begin.getTime()) });
    await onRetry?.(attempts);
  }

  readonly accept = (headers: Headers): void => {
    if (this.#departure === null) return;
    const allowance = this.#pace.readsAllowance ? readAllowance(headers, this.#clock.now()) : null;
    this.#pace.accepted(this.#departure, allowance);
  };

  /** Returns true if the provider has too many calls, so that the next attempt waits for its turn. */
  end(error: unknown, { reason, retryAfterMs }: ProviderError): boolean {
    const departure = this.#departure;
    if (departure === null) return false;
    const answer = error instanceof ResponseError || error instanceof ReplyError ? error : undefined;
    const status = answer?.status;
    const isSlowDown = status === 429 || status === 529 || (status === 503 && retryAfterMs !== undefined);
    if (isSlowDown && reason === "unavailable" && (retryAfterMs ?? 0) <= LONGEST_WAIT_MS) {
      this.#pace.rejected(departure, retryAfterMs ?? this.#resetOf(answer?.headers));
      return true;
    }
    this.#pace.ended(departure);
    return false;
  }

  #resetOf(headers = new Headers()): number | undefined {
    const allowance = readAllowance(headers, this.#clock.now());
    return allowance?.calls === 0 && allowance.ms <= LONGEST_WAIT_MS ? allowance.ms : undefined;
  }
}
