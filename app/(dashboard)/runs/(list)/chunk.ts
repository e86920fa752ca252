/** Splits a list into chunks of at most `most` items, in order. */
export function chunk<Item>(items: readonly Item[], most: number): Item[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, n) => items.slice(n * most, (n + 1) * most));
}
