import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import { Agent } from "undici";

/** Of one organization to one origin; further calls wait. */
const CONNECTIONS = 64;
/** Organizations whose connections are kept. */
const MAX_OWNERS = 2_000;

/** The ways to an address: over kept connections, and over a new one. */
export type Ways = { kept: Agent; fresh: Agent };
/** Ways to public addresses, and to those that the operator allows. */
type OwnWays = { guarded: Ways; trusted: Ways };

/** The connections of each organization: slow calls of one to a host must not hold those of others. */
export function createConnections(lookups: { guarded: LookupFunction; trusted: LookupFunction }): {
  of(organizationId: string): OwnWays;
  close(): Promise<void>;
} {
  const owned = new LRUCache<string, OwnWays>({
    max: MAX_OWNERS,
    // Calls in progress end first.
    dispose: (ways) => void Promise.all(agentsOf(ways).map((agent) => agent.close())),
  });
  return {
    of(organizationId) {
      const known = owned.get(organizationId);
      if (known) return known;
      const made = { guarded: makeWays(lookups.guarded), trusted: makeWays(lookups.trusted) };
      owned.set(organizationId, made);
      return made;
    },
    async close() {
      await Promise.all([...owned.values()].flatMap(agentsOf).map((agent) => agent.destroy()));
    },
  };
}

const agentsOf = ({ guarded, trusted }: OwnWays) => [
  guarded.kept,
  guarded.fresh,
  trusted.kept,
  trusted.fresh,
];

function makeWays(lookup: LookupFunction): Ways {
  return { kept: makeAgent(lookup), fresh: makeAgent(lookup, { pipelining: 0 }) };
}

function makeAgent(lookup: LookupFunction, options: Agent.Options = {}): Agent {
  return new Agent({
    ...options,
    connect: { timeout: 10_000, lookup },
    connections: CONNECTIONS,
    // A call has one time limit (guarded-fetch.ts).
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
