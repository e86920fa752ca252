import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { hashKey } from "@tanstack/react-query";

/**
 * Returns a function that fetches a query again after a change. A fetch in progress ends first, and one more follows:
 * if each change cancelled it, the query would show nothing new while changes arrive faster than answers.
 */
export function createRefetch(queryClient: QueryClient): (queryKey: QueryKey) => Promise<void> {
  /** By the hash of the query's key; true: it may have changed since the fetch began. */
  const fetching = new Map<string, boolean>();
  return async (queryKey) => {
    const hash = hashKey(queryKey);
    if (fetching.has(hash)) return void fetching.set(hash, true);
    // A fetch that another caller began may not have seen the change.
    fetching.set(hash, queryClient.isFetching({ queryKey, exact: true }) > 0);
    let isBehind = true;
    while (isBehind) {
      await queryClient.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
      isBehind = fetching.get(hash) ?? false;
      fetching.set(hash, false);
    }
    fetching.delete(hash);
  };
}
