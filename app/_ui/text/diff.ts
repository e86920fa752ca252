/** One line of a comparison: in both texts, only in the left, or only in the right. */
export type DiffLine = { kind: "same" | "left" | "right"; text: string };

/** A comparison with more changed lines takes long and is not useful. */
export const MAX_CHANGES = 1_000;
/** Lines compared between two checks of the time. */
const ROUND_LINES = 20_000;
/** How long one slice of work may block the page, in ms. */
const SLICE_MS = 12;

/**
 * The shortest edit script between two texts, by lines (Myers, "An O(ND) difference algorithm", 1986). Null if the
 * texts differ in more than `MAX_CHANGES` lines.
 */
export function diffLines(left: string, right: string): DiffLine[] | null {
  const work = diffInRounds(left, right);
  while (true) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * `diffLines` for texts of several megabytes, in slices that leave the page responsive. Throws once `signal` is
 * aborted.
 */
export async function diffLinesInSlices(
  left: string,
  right: string,
  signal: AbortSignal,
): Promise<DiffLine[] | null> {
  const work = diffInRounds(left, right);
  let until = performance.now() + SLICE_MS;
  while (true) {
    const { done, value } = work.next();
    if (done) return value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    until = performance.now() + SLICE_MS;
  }
}

function* diffInRounds(left: string, right: string): Generator<undefined, DiffLine[] | null> {
  const a = left.split("\n");
  const b = right.split("\n");
  const most = Math.min(a.length + b.length, MAX_CHANGES);
  // The furthest point on each diagonal; those of `changes` follow from those of one change less.
  const furthest = Furthest.start(most);
  const trace: Furthest[] = [];
  let looked = 0;
  for (let changes = 0; changes <= most; changes += 1) {
    trace.push(furthest.copy());
    for (let k = -changes; k <= changes; k += 2) {
      const down = k === -changes || (k !== changes && furthest.at(k - 1) < furthest.at(k + 1));
      let x = down ? furthest.at(k + 1) : furthest.at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) {
        x += 1;
        looked += 1;
      }
      furthest.set(k, x);
      if (x === a.length && x - k === b.length) return walkBack(a, b, trace, changes);
      looked += 1;
      if (looked > ROUND_LINES) {
        looked = 0;
        yield;
      }
    }
  }
  return null;
}

/** The furthest line of the left text on each diagonal, from `-most - 1` to `most + 1`; -1 if none was reached. */
class Furthest {
  private readonly middle: number;
  private readonly lines: Int32Array;

  private constructor(middle: number, lines: Int32Array) {
    this.middle = middle;
    this.lines = lines;
  }

  static start(most: number): Furthest {
    const furthest = new Furthest(most + 1, new Int32Array(2 * most + 3).fill(-1));
    furthest.set(1, 0);
    return furthest;
  }

  at(k: number): number {
    return this.lines[this.middle + k] ?? -1;
  }

  set(k: number, line: number): void {
    this.lines[this.middle + k] = line;
  }

  copy(): Furthest {
    return new Furthest(this.middle, this.lines.slice());
  }
}

function walkBack(a: string[], b: string[], trace: Furthest[], changes: number): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = changes; d >= 0; d -= 1) {
    const before = trace[d];
    const k = x - y;
    const down = !before || k === -d || (k !== d && before.at(k - 1) < before.at(k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : (before?.at(fromK) ?? 0);
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
