import { diffArrays } from "diff/lib/diff/array.js";

/** One line of a comparison: in both texts, only in the left, or only in the right. */
export type DiffLine = { kind: "same" | "left" | "right"; text: string };

/** A comparison with more changed lines takes long and is not useful. */
export const MAX_CHANGES = 1_000;
/** A comparison blocks the page at most this long. */
const TIMEOUT_MS = 1_000;

/** The shortest edit script between two lists of lines or words; null if they differ too much. */
export function diffTokens(left: string[], right: string[]): DiffLine[] | null {
  const changes = diffArrays(left, right, { maxEditLength: MAX_CHANGES, timeout: TIMEOUT_MS });
  return (
    changes?.flatMap(({ added, removed, value }) =>
      value.map((text): DiffLine => ({ kind: added ? "right" : removed ? "left" : "same", text })),
    ) ?? null
  );
}

/** The shortest edit script between two texts, by lines; null if they differ too much. */
export function diffLines(left: string, right: string): DiffLine[] | null {
  return diffTokens(left.split("\n"), right.split("\n"));
}

/** The number of lines that are changed, added and removed. A removed line with an added one beside it is changed. */
export function countChanges(lines: readonly DiffLine[]): {
  changed: number;
  added: number;
  removed: number;
} {
  const counts = { changed: 0, added: 0, removed: 0 };
  let [left, right] = [0, 0];
  for (const { kind } of [...lines, { kind: "same" }]) {
    if (kind === "left") left += 1;
    else if (kind === "right") right += 1;
    else {
      const pairs = Math.min(left, right);
      counts.changed += pairs;
      counts.removed += left - pairs;
      counts.added += right - pairs;
      [left, right] = [0, 0];
    }
  }
  return counts;
}

const CONTEXT = 2;

/** The changed lines of a comparison with some context; null marks omitted lines. */
export function nearChanges(lines: DiffLine[]): (DiffLine | null)[] {
  const changed = lines.flatMap((line, index) => (line.kind === "same" ? [] : index));
  const near = new Set(
    changed.flatMap((at) => Array.from({ length: 2 * CONTEXT + 1 }, (_, index) => at - CONTEXT + index)),
  );
  const shown: (DiffLine | null)[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  }
  return shown;
}
