import type { LookupFunction } from "node:net";
import { LRUCache } from "lru-cache";
import { Agent } from "undici";

// Per organization and origin; further calls wait.
const CONNECTIONS = 64;
const MAX_OWNERS = 2_000;

type Dispatchers = { pooled: Agent; fresh: Agent };
type OwnDispatchers = { guarded: Dispatchers; trusted: Dispatchers };

/** The connections of each organization: slow calls of one to a host must not hold those of others. */
export function createConnections(lookups: { guarded: LookupFunction; trusted: LookupFunction }) {
  const owned = new LRUCache<string, OwnDispatchers>({
    max: MAX_OWNERS,
    // Calls in progress end first.
    dispose: (unused) => void Promise.all(agentsOf(unused).map((agent) => agent.close())),
    memoMethod: () => ({
      guarded: createDispatchers(lookups.guarded),
      trusted: createDispatchers(lookups.trusted),
    }),
  });
  return {
    of: (organizationId: string) => owned.memo(organizationId),
    async close() {
      await Promise.all([...owned.values()].flatMap(agentsOf).map((agent) => agent.destroy()));
    },
  };
}

const agentsOf = ({ guarded, trusted }: OwnDispatchers) =>
  [guarded, trusted].flatMap(({ pooled, fresh }) => [pooled, fresh]);

function createDispatchers(lookup: LookupFunction): Dispatchers {
  const options: Agent.Options = {
    connect: { timeout: 10_000, lookup },
    connections: CONNECTIONS,
    // A call has one time limit (guarded-fetch.ts).
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return { pooled: new Agent(options), fresh: new Agent({ ...options, pipelining: 0 }) };
}
