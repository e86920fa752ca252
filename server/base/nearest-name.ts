/** Of short names, a third may differ. */
const MAX_EDITS = 2;

/** The known name that a misspelt one means; undefined if none is near, or several are as near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(MAX_EDITS, Math.floor(name.length / 3));
  const [first, second] = [...new Set(known)]
    .filter((each) => Math.abs(each.length - name.length) <= most)
    .map((each) => ({ each, edits: countEdits(name, each) }))
    .filter(({ edits }) => edits <= most)
    .sort((one, two) => one.edits - two.edits);
  return first === undefined || first.edits === second?.edits ? undefined : first.each;
}

function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (const [index, wanted] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (character === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
