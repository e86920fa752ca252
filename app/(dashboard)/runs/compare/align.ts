import { diffArrays } from "diff/lib/diff/array.js";
import { lineFacts, type WorkLine } from "../[runId]/lines";

/** Runs that differ in more lines are paired by position. */
const MAX_CHANGES = 600;

/** Matching lines of two runs; one side is null if the other run has no such line. */
export type Pair = { a: WorkLine | null; b: WorkLine | null };

/** Pairs lines by name and order (longest common subsequence), so that an extra call shifts nothing. */
export function alignLines(left: WorkLine[], right: WorkLine[]): Pair[] {
  const changes = diffArrays(left, right, { comparator: isSame, maxEditLength: MAX_CHANGES });
  if (changes === undefined) return alignByPosition(left, right);
  let at = 0;
  return changes.flatMap(({ added, removed, value }) =>
    value.map((line): Pair => {
      if (added) return { a: null, b: line };
      const a = left[at] ?? null;
      at += 1;
      return { a, b: removed ? null : line };
    }),
  );
}

function isSame(a: WorkLine, b: WorkLine): boolean {
  return a.depth === b.depth && nameOf(a) === nameOf(b);
}

/** A call is identified by what it led to. Its number would change with each extra call before it. */
function nameOf(line: WorkLine): string {
  return line.kind === "step" ? `step ${line.label}` : line.call.asked === 0 ? "answer" : "call";
}

function alignByPosition(left: WorkLine[], right: WorkLine[]): Pair[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => ({
    a: left[index] ?? null,
    b: right[index] ?? null,
  }));
}

/** How much longer (positive) or shorter (negative) the right one took, in ms; null if one is missing or still runs. */
export function slowerBy({ a, b }: Pair): number | null {
  const before = a ? lineFacts(a).durationMs : null;
  const after = b ? lineFacts(b).durationMs : null;
  return before === null || after === null ? null : after - before;
}
