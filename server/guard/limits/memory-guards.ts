import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { Clock } from "@/server/base/clock";

/** These guards only protect this process. The documented limits are in `rate-limit.ts`. */

const MAX_KEYS = 10_000;

/**
 * A sliding window: at most `limit` calls of a key in `seconds`, or the limit of the call. `allows` counts the call
 * if it is allowed.
 */
export function createMemoryWindow(limit: number, seconds: number, clock: Clock) {
  const hits = new LRUCache<string, number[]>({ max: MAX_KEYS });
  return {
    allows(key: string, limitOfCall = limit): boolean {
      const now = clock.monotonicMs();
      const live = (hits.get(key) ?? []).filter((hit) => hit > now - seconds * 1000);
      const allowed = live.length < limitOfCall;
      if (allowed) live.push(now);
      hits.set(key, live);
      return allowed;
    },
  };
}

/** A token bucket per key: `bytes` per `seconds`, initially full. `takes` consumes the bytes if they are available. */
export function createByteBudget(bytes: number, seconds: number, clock: Clock) {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: MAX_KEYS });
  return {
    takes(key: string, wanted: number): boolean {
      const at = clock.monotonicMs();
      const bucket = buckets.get(key) ?? { left: bytes, at };
      const left = Math.min(bytes, bucket.left + (Math.max(0, at - bucket.at) * bytes) / (seconds * 1000));
      const enough = wanted <= left;
      buckets.set(key, { left: enough ? left - wanted : left, at });
      return enough;
    },
  };
}

// The first 64 bits of an IPv6 address, which its holder cannot choose freely.
const NETWORK_GROUPS = 4;

/**
 * The key under which guards count an address: IPv4 unchanged, IPv6 by its network, since one holder has all its
 * addresses. At most 64 characters.
 */
export function guardKey(address: string): string {
  if (!isIPv6(address)) return address.slice(0, 64);
  const { parts } = ipaddr.IPv6.parse(address.replace(/%.*/, ""));
  const network = parts.slice(0, NETWORK_GROUPS);
  return network.map((group) => group.toString(16)).join(":");
}
