import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import { Agent } from "undici";

/** Of one organization to one origin; further calls wait. */
const CONNECTIONS = 64;
/** How many organizations keep connections. */
const MAX_OWNERS = 2_000;

/** Dispatchers that reuse connections, and that open a new one for each call. */
export type Dispatchers = { pooled: Agent; fresh: Agent };
/** Dispatchers for public addresses, and for those that the operator allows. */
type OwnDispatchers = { guarded: Dispatchers; trusted: Dispatchers };

/** The connections of each organization: slow calls of one to a host must not hold those of others. */
export function createConnections(lookups: { guarded: LookupFunction; trusted: LookupFunction }): {
  of(organizationId: string): OwnDispatchers;
  close(): Promise<void>;
} {
  const owned = new LRUCache<string, OwnDispatchers>({
    max: MAX_OWNERS,
    // Calls in progress end first.
    dispose: (own) => void Promise.all(dispatchersOf(own).map((agent) => agent.close())),
  });
  return {
    of(organizationId) {
      const known = owned.get(organizationId);
      if (known) return known;
      const created = {
        guarded: createDispatchers(lookups.guarded),
        trusted: createDispatchers(lookups.trusted),
      };
      owned.set(organizationId, created);
      return created;
    },
    async close() {
      await Promise.all([...owned.values()].flatMap(dispatchersOf).map((agent) => agent.destroy()));
    },
  };
}

const dispatchersOf = ({ guarded, trusted }: OwnDispatchers) => [
  guarded.pooled,
  guarded.fresh,
  trusted.pooled,
  trusted.fresh,
];

function createDispatchers(lookup: LookupFunction): Dispatchers {
  return { pooled: createAgent(lookup), fresh: createAgent(lookup, { pipelining: 0 }) };
}

function createAgent(lookup: LookupFunction, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    connect: { timeout: 10_000, lookup },
    connections: CONNECTIONS,
    // A call has one time limit (guarded-fetch.ts).
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
