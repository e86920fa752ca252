import { perOwner } from "@/server/base/per-owner";

/**
 * Lets equal lookups that wait at the same time share one. A lookup never takes the result of one that started
 * before it, because something may have changed since. For each key at most one lookup runs and one more waits.
 */
export class SharedLookups<Value> {
  readonly #lookups = perOwner((_: object) => ({
    running: new Map<string, Promise<Value>>(),
    waiting: new Map<string, Promise<Value>>(),
  }));

  /** Returns the result of `look`, or of an equal lookup that starts later. */
  share(owner: object, key: string, look: () => Promise<Value>): Promise<Value> {
    const { running, waiting } = this.#lookups(owner);
    const before = running.get(key);
    if (before === undefined) return start(running, key, look);
    const known = waiting.get(key);
    if (known !== undefined) return known;
    const next = before
      .catch(() => undefined)
      .then(() => {
        waiting.delete(key);
        return start(running, key, look);
      });
    waiting.set(key, next);
    return next;
  }
}

function start<Value>(running: Map<string, Promise<Value>>, key: string, look: () => Promise<Value>) {
  const lookup = look().finally(() => {
    if (running.get(key) === lookup) running.delete(key);
  });
  running.set(key, lookup);
  return lookup;
}
