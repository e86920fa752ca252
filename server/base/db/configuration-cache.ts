import { LRUCache } from "lru-cache";
import type { Notifications } from "./notifications";

/**
 * Caches of organizations' configuration. Database triggers notify all processes of changes, which drops the
 * organization's entries. Without notifications, everything is read from the database: a revoked key is rejected
 * within a second.
 */
export type Cached<Value> = {
  /** Undefined if there is none or it may be stale. */
  peek(key: string): Value | undefined;
  /** Does not cache null. */
  get(key: string, load: () => Promise<Found<Value> | null>): Promise<Value | null>;
};
type Found<Value> = { orgId: string; value: Value };

const MAX_ENTRIES = 10_000;

/** Creates caches with one shared listener. The returned function creates a cache for one kind of value. */
export function createConfigurationCaches(notifications: Notifications) {
  const caches: { evict(orgId: string): void }[] = [];
  // A value loaded across a notification is not cached.
  let changes = 0;
  notifications.listen("configuration", (orgId) => {
    changes += 1;
    for (const cache of caches) cache.evict(orgId);
  });

  return function make<Value>(): Cached<Value> {
    const keysOf = new Map<string, Set<string>>();
    const entries = new LRUCache<string, Found<Value>>({
      max: MAX_ENTRIES,
      dispose({ orgId }, key) {
        const keys = keysOf.get(orgId);
        keys?.delete(key);
        if (keys?.size === 0) keysOf.delete(orgId);
      },
    });
    caches.push({
      evict(orgId) {
        // Changes may have been missed while the connection was broken.
        if (orgId === "") entries.clear();
        else for (const key of [...(keysOf.get(orgId) ?? [])]) entries.delete(key);
      },
    });
    const peek = (key: string) => (notifications.fresh() ? entries.get(key)?.value : undefined);
    return {
      peek,
      async get(key, load) {
        const known = peek(key);
        if (known !== undefined) return known;
        const before = changes;
        const wasFresh = notifications.fresh();
        const found = await load();
        if (found === null) return null;
        if (wasFresh && changes === before) {
          entries.set(key, found);
          const keys = keysOf.get(found.orgId) ?? new Set();
          keysOf.set(found.orgId, keys.add(key));
        }
        return found.value;
      },
    };
  };
}
