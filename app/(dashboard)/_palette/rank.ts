/** What can be found by typing: by its label, and by other words that it answers to. */
export type Findable = { label: string; keywords?: string | undefined };

export type Group<Item> = { name: string; items: Item[] };

/** In a group of found items only the best are shown. */
const MOST_FOUND = 8;

/**
 * The items that answer to every typed word, each group's best first and the group with the best of all first, so that
 * `enter` takes what was meant. Without a text everything stays as it is.
 */
export function findItems<Item extends Findable>(groups: Group<Item>[], text: string): Group<Item>[] {
  const typed = text.trim().toLowerCase();
  if (typed === "") return groups.filter(({ items }) => items.length > 0);
  return groups
    .map(({ name, items }) => {
      const found = items
        .map((item) => ({ item, distance: distanceOf(item, typed) }))
        .filter((each): each is { item: Item; distance: number } => each.distance !== null)
        .sort((a, b) => a.distance - b.distance)
        .slice(0, MOST_FOUND);
      return { name, items: found.map(({ item }) => item), best: found[0]?.distance ?? 0 };
    })
    .filter(({ items }) => items.length > 0)
    .sort((a, b) => a.best - b.best)
    .map(({ name, items }) => ({ name, items }));
}

/** How far an item is from the text: 0 its label, 1 its label's start, 2 starts of its words, 3 inside; null: not it. */
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

/** The whole id in a pasted text, be it bare or in an address; null when there is none. */
export function idIn(text: string): string | null {
  return UUID.exec(text)?.[0].toLowerCase() ?? null;
}
