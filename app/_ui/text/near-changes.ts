import type { DiffLine } from "./diff";

/** Unchanged lines shown around each change. */
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
