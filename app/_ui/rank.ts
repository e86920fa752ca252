export type Findable = { label: string; keywords?: string | undefined };

export type Group<Item> = { name: string; items: Item[] };

const MAX_FOUND = 8;

/**
 * The items that match every typed word; the best item and group come first. Without a text, all items in their own
 * order. @param most the most matches of each group
 */
export function findItems<Item extends Findable>(
  groups: Group<Item>[],
  text: string,
  most = MAX_FOUND,
): Group<Item>[] {
  const typed = text.trim().toLowerCase();
  if (typed === "") return groups.filter(({ items }) => items.length > 0);
  return groups
    .map(({ name, items }) => {
      const found = items
        .map((item) => ({ item, distance: distanceOf(item, typed) }))
        .filter((each): each is { item: Item; distance: number } => each.distance !== null)
        .sort((a, b) => a.distance - b.distance)
        .slice(0, most);
      return { name, items: found.map(({ item }) => item), best: found[0]?.distance ?? 0 };
    })
    .filter(({ items }) => items.length > 0)
    .sort((a, b) => a.best - b.best)
    .map(({ name, items }) => ({ name, items }));
}

/** 0: the label, 1: the start of the label, 2: starts of words, 3: inside; null: no match. */
function distanceOf({ label, keywords = "" }: Findable, typed: string): number | null {
  const name = label.toLowerCase();
  if (name === typed) return 0;
  if (name.startsWith(typed)) return 1;
  const all = `${name} ${keywords.toLowerCase()}`;
  const asked = typed.split(/\s+/);
  const own = all.split(/[\s\-_/·]+/);
  if (asked.every((word) => own.some((each) => each.startsWith(word)))) return 2;
  return asked.every((word) => all.includes(word)) ? 3 : null;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The UUID in a pasted id or URL; null if there is none. */
export function idIn(text: string): string | null {
  return UUID.exec(text)?.[0].toLowerCase() ?? null;
}
