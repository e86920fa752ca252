const LONG = 600;
const MANY_LINES = 8;
/** An answer is what its page is about, so more of it is shown than of other texts. */
export const ANSWER_LIMIT = { characters: 3_000, lines: 24 };
export const PROMPT_LIMIT = { characters: 4_000, lines: 40 };
const SEEN = 3_000;

/** Returns true if a text is long enough to start collapsed. A JSON document counts a line for each of its values. */
export function isLong(text: string, limit = { characters: LONG, lines: MANY_LINES }): boolean {
  if (text.length > limit.characters) return true;
  if (text.split("\n", limit.lines + 1).length > limit.lines) return true;
  return /^\s*[[{]/.test(text) && countValues(text, limit.lines) > limit.lines;
}

/** Counts nested values, too; 0 for text that is not JSON. */
function countValues(text: string, most: number): number {
  let count = 0;
  try {
    JSON.parse(text, (_, value) => {
      count += 1;
      return count > most ? null : value;
    });
  } catch {
    return 0;
  }
  return count;
}

/** The part of a collapsed text that is visible. */
export function startOfFolded(text: string): string {
  return text.slice(0, characterBoundary(text, SEEN));
}

/** `at`, or `at - 1` inside a surrogate pair: half a pair would differ between the server's HTML and the browser. */
export function characterBoundary(text: string, at: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

/** Returns true if Markdown would change how a text looks. Without these characters it looks the same as plain text. */
export function isMarkedUp(text: string): boolean {
  return /[*_`#[\]|>~]/.test(text);
}
