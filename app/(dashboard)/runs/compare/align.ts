import { diffArrays } from "diff/lib/diff/array.js";
import type { RunInspection } from "@/server/runs/read/inspect/inspect";
import { type WorkRow, workRowsOf } from "../[runId]/lines";

const MAX_CHANGES = 600;

/** Matching lines of two runs; one side is null if the other run has no such line. */
export type Pair = { a: WorkRow | null; b: WorkRow | null };

/** Pairs lines by name and order (longest common subsequence), so that an extra call shifts nothing. */
export function alignRuns(a: RunInspection, b: RunInspection): Pair[] {
  const left = workRowsOf(a);
  const right = workRowsOf(b);
  const changes = diffArrays(left, right, { comparator: isSame, maxEditLength: MAX_CHANGES });
  if (changes === undefined) {
    const longer = left.length > right.length ? left : right;
    return longer.map((_, index) => ({ a: left[index] ?? null, b: right[index] ?? null }));
  }
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

function isSame(a: WorkRow, b: WorkRow): boolean {
  return a.depth === b.depth && nameOf(a) === nameOf(b);
}

/** By what a call led to, because an extra call before it would change its number. */
function nameOf(line: WorkRow): string {
  return line.kind === "step" ? `step ${line.label}` : line.call.asked === 0 ? "answer" : "call";
}
