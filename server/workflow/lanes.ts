/** Does pieces of work side by side. All of them come to rest before an error of one is thrown. */
export type Fork = <T>(works: readonly (() => Promise<T>)[]) => Promise<T[]>;

/**
 * Works on the items in their order, at most `limit` at a time. `work` returns why an item failed, or null. After a failure no
 * further item is begun, and those under way come to rest. Returns the failure of the first item that failed: it is the same
 * on every replay, since an item is always begun before those behind it.
 */
export async function inLanes<Item, Failure>(
  items: readonly Item[],
  { limit, fork }: { limit: number; fork: Fork },
  work: (item: Item, index: number) => Promise<Failure | null>,
): Promise<Failure | null> {
  const failures = new Map<number, Failure>();
  const entries = [...items.entries()];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (failures.size === 0) {
      const entry = entries[next];
      if (entry === undefined) return;
      next += 1;
      const [index, item] = entry;
      try {
        const failure = await work(item, index);
        if (failure !== null) failures.set(index, failure);
      } catch (error) {
        next = entries.length;
        throw error;
      }
    }
  };
  await fork(Array.from({ length: Math.min(limit, items.length) }, () => lane));
  const [first] = [...failures].sort(([one], [other]) => one - other);
  return first?.[1] ?? null;
}
