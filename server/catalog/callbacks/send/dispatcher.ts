import { z } from "zod";
import { limitStatements } from "@/server/base/db/limited-statements";
import { defineQuery } from "@/server/base/db/statement";
import { pauseAt } from "@/server/base/pause-points";
import { sleepUntilWoken } from "@/server/base/sleep";
import type { Services } from "@/server/catalog/services";
import { createAddressEndpoints } from "./address-endpoints";
import { deliver, type Leased } from "./deliver";

const POLL_MS = 1_000;
// Attempts at a time in this process; beyond that, one for an organization that has none.
const ATTEMPTS = 96;
// Of these, not for an organization that has twenty: a few of them could take all.
const KEPT_ATTEMPTS = 32;
const SPARE_ATTEMPTS = 64;
/** Longer than an attempt. Then another process may try it. */
export const LEASE_SECONDS = 30;
const EVENTS_AT_ONCE = 500;
const STATEMENTS_AT_ONCE = 3;

const FIND_WORK = defineQuery(
  "find-callback-work",
  z.object({ hasEvents: z.boolean(), hasDeliveries: z.boolean() }),
  `SELECT EXISTS (SELECT FROM callback_events WHERE expanded_at IS NULL) AS "hasEvents",
          EXISTS (SELECT FROM callback_deliveries WHERE next_at IS NOT NULL) AS "hasDeliveries"`,
);

const EXPAND = defineQuery(
  "expand-callbacks",
  z.object({ events: z.number() }),
  "SELECT expand_callbacks($1, $2) AS events",
);

const CLAIM = defineQuery(
  "claim-callbacks",
  z.object({ delivery: z.string(), org: z.string(), attempt: z.number() }),
  "SELECT delivery, org, attempt FROM claim_callbacks($1, $2, $3, $4, $5)",
);

/** Sends callbacks. Every process has one; rows decide which sends what (docs/callbacks.md). */
export class CallbackDispatcher {
  readonly #services: Services;
  readonly #statementsOf: ReturnType<typeof limitStatements>;
  readonly #attempts = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  #wake = () => {};

  constructor(services: Services) {
    this.#services = services;
    this.#statementsOf = limitStatements(services.pool, STATEMENTS_AT_ONCE);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Waits for attempts in progress, which take ten seconds at most. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.settle();
  }

  /** Waits for the attempts that are in progress now. */
  async settle(): Promise<void> {
    await Promise.all(this.#attempts);
  }

  /** Begins the attempts that are due, as many as may be. Returns true if there may be more events. */
  async turn(): Promise<boolean> {
    const { pool, clock } = this.#services;
    const [work] = await FIND_WORK(pool);
    if (!(work?.hasEvents || work?.hasDeliveries)) return false;
    let isMore = false;
    if (work.hasEvents) {
      await pauseAt("callback:before");
      await createAddressEndpoints(this.#services);
      const [expanded] = await EXPAND(pool, [clock.forDatabase(), EVENTS_AT_ONCE]);
      isMore = expanded?.events === EVENTS_AT_ONCE;
      await pauseAt("callback:expanded");
    }
    const free = ATTEMPTS - this.#attempts.size;
    const limits = [free, KEPT_ATTEMPTS, SPARE_ATTEMPTS, LEASE_SECONDS];
    const leased = await CLAIM(pool, [clock.forDatabase(), ...limits]);
    for (const each of leased) this.#begin(each);
    return isMore;
  }

  #begin(leased: Leased): void {
    const attempt = deliver(this.#services, this.#statementsOf(leased.org), leased)
      .catch((error: unknown) => {
        const { delivery } = leased;
        this.#services.log.warn("Could not send a callback; retrying in 30 s", { delivery, error });
      })
      .then(() => {
        this.#attempts.delete(attempt);
        this.#wake();
      });
    this.#attempts.add(attempt);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let isMore = false;
      let isWoken = false;
      this.#wake = () => {
        isWoken = true;
      };
      try {
        isMore = await this.turn();
      } catch (error) {
        if (!signal.aborted) this.#services.log.warn("Could not read callbacks; retrying in 1 s", { error });
      }
      if (isMore || isWoken) continue;
      await sleepUntilWoken(POLL_MS, signal, (wake) => {
        this.#wake = wake;
      });
    }
  }
}
