/** Does pieces of work in parallel. Waits for all of them before it throws an error of one. */
export type Fork = <T>(works: readonly (() => Promise<T>)[]) => Promise<T[]>;

/**
 * Works on the items in order, at most `limit` at a time. `work` returns why an item failed, or null. After a failure,
 * only the items in progress finish. Returns the failure of the first item that failed: the same one on every replay.
 */
export async function inLanes<Item, Failure>(
  items: readonly Item[],
  { limit, fork }: { limit: number; fork: Fork },
  work: (item: Item, index: number) => Promise<Failure | null>,
): Promise<Failure | null> {
  const failures = new Map<number, Failure>();
  // All lanes take from the same iterator.
  const entries = items.entries();
  let isStopped = false;
  const lane = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (isStopped) return;
      try {
        const failure = await work(item, index);
        if (failure === null) continue;
        failures.set(index, failure);
        isStopped = true;
      } catch (error) {
        isStopped = true;
        throw error;
      }
    }
  };
  await fork(Array.from({ length: Math.min(limit, items.length) }, () => lane));
  const [first] = [...failures].sort(([one], [other]) => one - other);
  return first?.[1] ?? null;
}
