import type { Clock } from "@/server/clock";

/** The most keys stored; beyond it the oldest is dropped. */
const MAX_KEYS = 10_000;

/**
 * A sliding window in this process's memory, for guards that only protect the machine. `allows` counts the call if it
 * is allowed. Bounded to `MAX_KEYS` keys of at most `limit` times each.
 */
export function createMemoryWindow(limit: number, seconds: number, clock: Clock) {
  const hits = new Map<string, number[]>();
  return {
    allows(key: string): boolean {
      const now = clock.now().getTime();
      const live = (hits.get(key) ?? []).filter((hit) => hit > now - seconds * 1000);
      const allowed = live.length < limit;
      if (allowed) live.push(now);
      hits.delete(key);
      hits.set(key, live);
      if (hits.size > MAX_KEYS) {
        const oldest = hits.keys().next();
        if (!oldest.done) hits.delete(oldest.value);
      }
      return allowed;
    },
    seconds,
    limit,
  };
}

export type MemoryWindow = ReturnType<typeof createMemoryWindow>;
