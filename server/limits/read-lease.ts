import type { ApiKeyActor } from "@/server/auth/actor";
import type { Services } from "@/server/services";
import { BoundedMap } from "./bounded-map";
import { type RateDecision, takeRate } from "./rate-limit";

/**
 * Reads of a key count in blocks that a process leases for a second: a poll costs no statement then. A leased read counts
 * for a second longer than its window, so that no 60 seconds hold more reads than the limit, whichever process answers.
 */

const LEASE_MS = 1_000;
const WINDOW_SECONDS = 60;
const MAX_KEYS = 10_000;

type Lease = { left: number; until: number; block: number; decision: RateDecision; pending: Promise<void> | undefined };
const leasesOf = new WeakMap<object, BoundedMap<Lease>>();

function leases(services: Pick<Services, "pool">): BoundedMap<Lease> {
  const known = leasesOf.get(services.pool);
  if (known) return known;
  const made = new BoundedMap<Lease>(MAX_KEYS);
  leasesOf.set(services.pool, made);
  return made;
}

/** Takes one read from what is leased; undefined when a new block must be leased first, null when reads are unlimited. */
export function takeLeasedRead(services: Services, actor: ApiKeyActor): RateDecision | null | undefined {
  const { readsPerMinute: limit } = actor.plan;
  if (limit === null) return null;
  const lease = leases(services).get(actor.apiKeyId);
  if (!lease || lease.left <= 0 || lease.decision.limit !== limit || services.clock.now().getTime() >= lease.until) return undefined;
  lease.left -= 1;
  return lease.decision;
}

/** Takes one read of a key; null when its reads are unlimited. A refused read does not count. */
export async function takeRead(services: Services, actor: ApiKeyActor): Promise<RateDecision | null> {
  const { readsPerMinute: limit } = actor.plan;
  if (limit === null) return null;
  const all = leases(services);
  for (;;) {
    const leased = takeLeasedRead(services, actor);
    if (leased !== undefined) return leased;
    let lease = all.get(actor.apiKeyId);
    if (lease === undefined) {
      const none = { allowed: false, limit, seconds: WINDOW_SECONDS, remaining: 0, resetSeconds: 1 };
      lease = { left: 0, until: 0, block: 0, decision: none, pending: undefined };
      all.set(actor.apiKeyId, lease);
    }
    const own = lease;
    own.pending ??= renew(services, own, { key: `reads:${actor.apiKeyId}`, limit }).finally(() => {
      own.pending = undefined;
    });
    await own.pending;
    if (own.left <= 0) return { ...own.decision, allowed: false };
  }
}

/** Leases the next block: twice as many after one that was used up in its second, half as many after any other. */
async function renew(services: Services, lease: Lease, { key, limit }: { key: string; limit: number }): Promise<void> {
  const usedUp = lease.left === 0 && services.clock.now().getTime() < lease.until;
  const largest = Math.max(1, Math.floor(limit / WINDOW_SECONDS));
  lease.block = Math.max(1, Math.min(largest, usedUp ? lease.block * 2 : Math.ceil(lease.block / 2)));
  const window = { key, limit, seconds: WINDOW_SECONDS + LEASE_MS / 1000 };
  const asked = services.clock.now().getTime();
  const { granted, ...decision } = await takeRate(services.pool, window, { wanted: lease.block, clock: services.clock });
  lease.left = granted;
  lease.until = asked + LEASE_MS;
  lease.decision = { ...decision, limit, seconds: WINDOW_SECONDS };
}
