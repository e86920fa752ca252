import { diffTokens } from "./diff";

/** A part of a line; `changed` if the line it is compared with lacks it. */
export type Piece = { text: string; changed: boolean };

/** Lines that share a smaller part of their characters count as replaced, not as changed. */
const MIN_SHARED = 0.3;

/** A line in pieces, words that the other line lacks marked. Undefined if the two have little in common. */
export function markWords(line: string, other: string): Piece[] | undefined {
  const words = diffTokens(wordsOf(line), wordsOf(other));
  if (words === null) return undefined;
  const pieces: Piece[] = [];
  for (const { kind, text } of words) {
    if (kind === "right") continue;
    const [changed, last] = [kind === "left", pieces.at(-1)];
    if (last?.changed === changed) last.text += text;
    else pieces.push({ text, changed });
  }
  const shared = pieces
    .filter(({ changed }) => !changed)
    .reduce((sum, { text }) => sum + text.trim().length, 0);
  return shared < MIN_SHARED * line.length ? undefined : pieces;
}

/** The words, numbers, spaces and signs of a line. */
function wordsOf(line: string): string[] {
  return line.match(/\p{L}+|\p{N}+|\s+|./gsu) ?? [];
}
