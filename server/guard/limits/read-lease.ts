import { LRUCache } from "lru-cache";
import type { ApiKeyActor } from "@/server/base/actor";
import { perOwner } from "@/server/base/per-owner";
import type { Services } from "@/server/guard/services";
import { acquireRate, type RateDecision } from "./rate-limit";

/**
 * A process leases a key's reads for a second, so that a poll needs no statement. A leased read counts for a second
 * longer than its window, so that no 60 seconds exceed the limit.
 */

const LEASE_MS = 1_000;
const WINDOW_SECONDS = 60;
const MAX_KEYS = 10_000;

type Lease = {
  left: number;
  /** In ms of the monotonic clock; the rest of the block expires then. */
  until: number;
  block: number;
  waiting: number;
  decision: RateDecision;
  pending: Promise<void> | undefined;
};
const leases = perOwner((_: Services["pool"]) => new LRUCache<string, Lease>({ max: MAX_KEYS }));

/**
 * Takes one leased read; null if reads are unlimited. "unleased": a new block must be leased first; "rejected": the last
 * one was rejected.
 */
export function acquireLeasedRead(
  services: Pick<Services, "clock" | "pool">,
  actor: ApiKeyActor,
): RateDecision | null | "unleased" | "rejected" {
  const { readsPerMinute: limit } = actor.plan;
  if (limit === null) return null;
  const lease = leases(services.pool).get(actor.apiKeyId);
  if (lease === undefined || lease.decision.limit !== limit) return "unleased";
  if (!lease.decision.allowed && lease.block > 0) return "rejected";
  if (lease.left <= 0 || services.clock.monotonicMs() >= lease.until) return "unleased";
  lease.left -= 1;
  return lease.decision;
}

/** Takes one read of a key; null if its reads are unlimited. A rejected read does not count. */
export async function acquireRead(
  services: Pick<Services, "clock" | "pool">,
  actor: ApiKeyActor,
): Promise<RateDecision | null> {
  const { readsPerMinute: limit } = actor.plan;
  if (limit === null) return null;
  for (;;) {
    const leased = acquireLeasedRead(services, actor);
    if (typeof leased !== "string") return leased;
    const lease = leaseOf(services, actor.apiKeyId, limit);
    lease.waiting += 1;
    lease.pending ??= renew(services, lease, { key: `reads:${actor.apiKeyId}`, limit }).finally(() => {
      lease.pending = undefined;
      lease.waiting = 0;
    });
    await lease.pending;
    if (!lease.decision.allowed) return lease.decision;
  }
}

function leaseOf(services: Pick<Services, "pool">, keyId: string, limit: number): Lease {
  const all = leases(services.pool);
  const known = all.get(keyId);
  if (known) return known;
  const decision = { allowed: false, limit, seconds: WINDOW_SECONDS, remaining: 0, resetSeconds: 1 };
  const made = { left: 0, until: 0, block: 0, waiting: 0, decision, pending: undefined };
  all.set(keyId, made);
  return made;
}

/** Twice as large if the last block was used up within its second, otherwise half. */
async function renew(
  services: Pick<Services, "clock" | "pool">,
  lease: Lease,
  { key, limit }: { key: string; limit: number },
): Promise<void> {
  // Calls in the same turn of the event loop share one lease.
  await Promise.resolve();
  const asked = services.clock.monotonicMs();
  const usedUp = lease.left === 0 && asked < lease.until;
  const largest = Math.max(1, Math.floor(limit / WINDOW_SECONDS));
  lease.block = Math.max(1, Math.min(largest, usedUp ? lease.block * 2 : Math.ceil(lease.block / 2)));
  const wanted = Math.min(limit, Math.max(lease.block, lease.waiting));
  const window = { key, limit, seconds: WINDOW_SECONDS + LEASE_MS / 1000 };
  const { granted, ...decision } = await acquireRate(services.pool, window, {
    wanted,
    clock: services.clock,
  });
  lease.left = granted;
  lease.until = asked + LEASE_MS;
  const resetSeconds = Math.min(WINDOW_SECONDS, decision.resetSeconds);
  lease.decision = { ...decision, limit, seconds: WINDOW_SECONDS, resetSeconds };
}
