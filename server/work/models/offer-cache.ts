import { LRUCache } from "lru-cache";
import type { Clock } from "@/server/base/clock";
import type { Offer } from "./port";

const FRESH_MS = 5 * 60_000;
// Remembered so that a page that is opened often does not wait each time.
const FAILED_MS = 15_000;

/** The models that providers offer, read again after some minutes. Concurrent readers share one request. */
export class OfferCache {
  readonly #offers = new LRUCache<string, { until: number; offer: Promise<Offer> }>({ max: 200 });

  async get(key: string, clock: Clock, read: () => Promise<Offer>): Promise<Offer> {
    const now = clock.now().getTime();
    const known = this.#offers.get(key);
    if (known !== undefined && now < known.until) return known.offer;
    const entry = { until: now + FRESH_MS, offer: read() };
    this.#offers.set(key, entry);
    try {
      const offer = await entry.offer;
      if (offer.problem !== null) entry.until = now + FAILED_MS;
      return offer;
    } catch (error) {
      this.#offers.delete(key);
      throw error;
    }
  }
}
