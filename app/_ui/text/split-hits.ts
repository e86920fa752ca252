/** Beyond so many, marks would cost the page more than they tell. */
const MOST_MARKS = 200;

/** A text cut at what a pattern finds in it: parts at even places are between hits, those at odd places are hits, 200 at most. */
export function splitHits(text: string, pattern: RegExp): string[] {
  const parts: string[] = [];
  const all = new RegExp(pattern.source, `${pattern.flags.replace("g", "")}g`);
  let at = 0;
  for (const found of text.matchAll(all)) {
    if (parts.length >= 2 * MOST_MARKS) break;
    if (found[0] === "") continue;
    parts.push(text.slice(at, found.index), found[0]);
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
