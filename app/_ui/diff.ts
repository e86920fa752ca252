/** One line of a comparison: on both sides, only on the left, or only on the right. */
export type DiffLine = { kind: "same" | "left" | "right"; text: string };

/** Beyond this many changed lines a comparison says nothing any more, and takes long. */
const MOST_CHANGES = 1_000;

/**
 * The shortest way from one text to another, by lines (Myers, "An O(ND) difference algorithm", 1986). Null when the
 * texts differ in too many lines.
 */
export function diffLines(left: string, right: string): DiffLine[] | null {
  const a = left.split("\n");
  const b = right.split("\n");
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  for (let changes = 0; changes <= most; changes += 1) {
    trace.push(new Map(furthest));
    const next = new Map(furthest);
    for (let k = -changes; k <= changes; k += 2) {
      const down = k === -changes || (k !== changes && at(furthest, k - 1) < at(furthest, k + 1));
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      next.set(k, x);
      if (x === a.length && x - k === b.length) return walkBack(a, b, trace, changes);
    }
    furthest = next;
  }
  return null;
}

function at(furthest: Map<number, number>, k: number): number {
  return furthest.get(k) ?? -1;
}

function walkBack(a: string[], b: string[], trace: Map<number, number>[], changes: number): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = changes; d >= 0; d -= 1) {
    const before = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -d || (k !== d && at(before, k - 1) < at(before, k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(before, fromK);
    const fromY = d === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ kind: "same", text: a[x] ?? "" });
    }
    if (d === 0) break;
    if (down) {
      y -= 1;
      lines.push({ kind: "right", text: b[y] ?? "" });
    } else {
      x -= 1;
      lines.push({ kind: "left", text: a[x] ?? "" });
    }
  }
  return lines.reverse();
}
