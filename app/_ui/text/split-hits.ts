/** More marks would slow the page down. */
const MAX_MARKS = 200;

/** Splits a text at the hits of a pattern: even items are between hits, odd items are hits, at most 200. */
export function splitHits(text: string, pattern: RegExp): string[] {
  const parts: string[] = [];
  const all = new RegExp(pattern.source, `${pattern.flags.replace("g", "")}g`);
  let at = 0;
  for (const found of text.matchAll(all)) {
    if (parts.length >= 2 * MAX_MARKS) break;
    if (found[0] === "") continue;
    parts.push(text.slice(at, found.index), found[0]);
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
