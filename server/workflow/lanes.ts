/** Does pieces of work in parallel. Waits for all of them before it throws an error of one. */
export type Fork = <T>(works: readonly (() => Promise<T>)[]) => Promise<T[]>;

/**
 * Works on the items in order, at most `limit` at a time. `work` returns why an item failed, or null. After a failure no
 * further item begins, and the items in progress finish. Returns the failure of the first item that failed. It is the
 * same on every replay, because items always begin in order.
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
