import type { Clock } from "@/server/clock";

/** The most keys stored; beyond it the oldest is dropped. */
const MAX_KEYS = 10_000;

/**
 * A token bucket per key in this process's memory: `bytes` per `seconds`, initially full. For guards that only protect
 * the machine. `takes` consumes the bytes if they are available.
 */
export function createByteBudget(bytes: number, seconds: number, clock: Clock) {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    takes(key: string, wanted: number): boolean {
      const at = clock.now().getTime();
      const bucket = buckets.get(key) ?? { left: bytes, at };
      const left = Math.min(bytes, bucket.left + (Math.max(0, at - bucket.at) * bytes) / (seconds * 1000));
      const enough = wanted <= left;
      buckets.delete(key);
      buckets.set(key, { left: enough ? left - wanted : left, at });
      if (buckets.size > MAX_KEYS) {
        const oldest = buckets.keys().next();
        if (!oldest.done) buckets.delete(oldest.value);
      }
      return enough;
    },
  };
}

export type ByteBudget = ReturnType<typeof createByteBudget>;
