import { LRUCache } from "lru-cache";
import { Pace } from "./pace";

/** The paces of providers and organizations in this process. Those that are not used for long are deleted. */
export class Paces {
  readonly #tools: ConstructorParameters<typeof Pace>[0];
  readonly #paces = new LRUCache<string, Pace>({ max: 10_000 });

  constructor(tools: ConstructorParameters<typeof Pace>[0]) {
    this.#tools = tools;
  }

  /** @param address The provider's name, interface and address. */
  of(address: string, organizationId: string): Pace {
    const key = `${organizationId} ${address}`;
    const known = this.#paces.get(key);
    if (known !== undefined) return known;
    const pace = new Pace(this.#tools);
    this.#paces.set(key, pace);
    return pace;
  }
}
