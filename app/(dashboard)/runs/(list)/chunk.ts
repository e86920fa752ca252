/** The list in pieces of so many at most, in its order. */
export function chunk<Item>(items: readonly Item[], most: number): Item[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, n) => items.slice(n * most, (n + 1) * most));
}
