import type { DiffLine } from "@/app/_ui/text/diff";

/** Characters shown of one line at most. */
const MOST_SHOWN = 1_000;
/** Characters left standing before the place where two long lines begin to differ. */
const CONTEXT = 100;

/** A line of a comparison as it is shown: the characters left out of it before and after. */
export type ShownLine = DiffLine & { before: number; after: number };

/**
 * Shows of long lines the part where the left one and its counterpart on the right begin to differ; of those without a
 * counterpart, their starts. Null stands for lines left out, and stays.
 */
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

/** The first changed line of the left belongs to the first of the right, and so on. */
function clipChanged(changed: DiffLine[]): ShownLine[] {
  const of = (kind: DiffLine["kind"]) => changed.filter((line) => line.kind === kind);
  const sides = { left: of("left"), right: of("right"), same: [] };
  const count = { left: 0, right: 0, same: 0 };
  return changed.map((line) => {
    const other = sides[line.kind === "left" ? "right" : "left"][count[line.kind]];
    count[line.kind] += 1;
    return clip(line, other ? firstDifference(line.text, other.text) - CONTEXT : 0);
  });
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function clip(line: DiffLine, wanted: number): ShownLine {
  const { text } = line;
  if (text.length <= MOST_SHOWN) return { ...line, before: 0, after: 0 };
  const from = wholeCharacter(text, Math.max(0, Math.min(wanted, text.length - MOST_SHOWN)));
  const to = wholeCharacter(text, Math.min(text.length, from + MOST_SHOWN));
  return { ...line, text: text.slice(from, to), before: from, after: text.length - to };
}

/** Half a character would be another one in the server's HTML than in the browser. */
function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && at > 0 ? at - 1 : at;
}
