import { type DiffLine, diffTokens } from "./diff";
import { characterBoundary } from "./long-text";

/** Characters of one line. */
const MAX_SHOWN = 1_000;
const CONTEXT = 100;

/**
 * A visible line of a comparison, with the number of characters left out on both sides. `pieces` mark what the
 * counterpart lacks, if both have enough in common.
 */
export type ShownLine = DiffLine & { before: number; after: number; pieces?: Piece[] | undefined };

/** Clips long lines to where the left and right one begin to differ, others to their start. Null marks left-out lines. */
export function clipLines(lines: readonly (DiffLine | null)[]): (ShownLine | null)[] {
  const shown: (ShownLine | null)[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? null;
    if (line === null || line.kind === "same") {
      shown.push(line && clip(line, 0));
      at += 1;
      continue;
    }
    const changed: DiffLine[] = [];
    for (let next = lines[at]; next && next.kind !== "same"; next = lines[at]) {
      changed.push(next);
      at += 1;
    }
    shown.push(...clipChanged(changed));
  }
  return shown;
}

function clipChanged(changed: DiffLine[]): ShownLine[] {
  const of = (kind: DiffLine["kind"]) => changed.filter((line) => line.kind === kind);
  const sides = { left: of("left"), right: of("right"), same: [] };
  const count = { left: 0, right: 0, same: 0 };
  return changed.map((line) => {
    const other = sides[line.kind === "left" ? "right" : "left"][count[line.kind]];
    count[line.kind] += 1;
    if (!other) return clip(line, 0);
    const from = firstDifference(line.text, other.text) - CONTEXT;
    const shown = clip(line, from);
    return { ...shown, pieces: markWords(shown.text, clip(other, from).text) };
  });
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function clip(line: DiffLine, wanted: number): ShownLine {
  const { text } = line;
  if (text.length <= MAX_SHOWN) return { ...line, before: 0, after: 0 };
  const from = characterBoundary(text, Math.max(0, Math.min(wanted, text.length - MAX_SHOWN)));
  const to = characterBoundary(text, Math.min(text.length, from + MAX_SHOWN));
  return { ...line, text: text.slice(from, to), before: from, after: text.length - to };
}

type Piece = { text: string; changed: boolean };

/** Lines that share less of their characters count as replaced. */
const MIN_SHARED = 0.3;

/** Undefined if the two have little in common. */
function markWords(line: string, other: string): Piece[] | undefined {
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

function wordsOf(line: string): string[] {
  return line.match(/\p{L}+|\p{N}+|\s+|./gsu) ?? [];
}
