/** A page of a list, newest first. `nextCursor`: the `cursor` of the next, older page; null if there is none. */
export type Page<Item, Cursor = string> = { items: Item[]; nextCursor: Cursor | null };

export type PageRequest<Cursor = string> = { cursor?: Cursor | null | undefined; limit: number };

/** The page of `limit` items, from a query for one item more. `key`: the field that is the cursor. */
export function pageOf<Item, Key extends keyof Item>(
  found: readonly Item[],
  limit: number,
  key: Key,
): Page<Item, Item[Key]> {
  const items = found.slice(0, limit);
  return { items, nextCursor: found.length > limit ? (items.at(-1)?.[key] ?? null) : null };
}
