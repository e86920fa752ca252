import { lineFacts, type WorkLine } from "../[runId]/lines";

/** Matching lines of two runs; one side is null if the other run has no such line. */
export type Pair = { a: WorkLine | null; b: WorkLine | null };

/** Pairs lines by name and order (longest common subsequence), so that an extra call shifts nothing. */
export function alignLines(left: WorkLine[], right: WorkLine[]): Pair[] {
  const rows = left.length + 1;
  const columns = right.length + 1;
  if (rows * columns > 400_000) return alignByPosition(left, right);
  const best = Array.from({ length: rows }, () => new Uint32Array(columns));
  const read = (i: number, j: number) => best[i]?.[j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const row = best[i];
      if (!row) continue;
      row[j] = isSame(left[i], right[j]) ? read(i + 1, j + 1) + 1 : Math.max(read(i + 1, j), read(i, j + 1));
    }
  }
  const pairs: Pair[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const a = left[i] ?? null;
    const b = right[j] ?? null;
    if (a && b && isSame(a, b)) {
      pairs.push({ a, b });
      i += 1;
      j += 1;
    } else if (a && (!b || read(i + 1, j) >= read(i, j + 1))) {
      pairs.push({ a, b: null });
      i += 1;
    } else {
      pairs.push({ a: null, b });
      j += 1;
    }
  }
  return pairs;
}

function isSame(a: WorkLine | undefined, b: WorkLine | undefined): boolean {
  return a !== undefined && b !== undefined && a.depth === b.depth && nameOf(a) === nameOf(b);
}

/** Calls are told apart by what they led to: the label of others has their number, which an extra call shifts. */
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
