/** Of short names, a third may differ. */
const MAX_EDITS = 2;
// Tenants choose the names: longer or more ones are not compared.
const MAX_LENGTH = 64;
const MAX_KNOWN = 500;

/** The known name that a misspelt one means; undefined if none is near, or several are as near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH || known.length > MAX_KNOWN) return;
  const most = Math.min(MAX_EDITS, Math.floor(name.length / 3));
  const [first, second] = [...new Set(known)]
    .filter((each) => Math.abs(each.length - name.length) <= most)
    .map((each) => ({ each, edits: countEdits(name, each, most) }))
    .filter(({ edits }) => edits <= most)
    .sort((one, two) => one.edits - two.edits);
  return first === undefined || first.edits === second?.edits ? undefined : first.each;
}

// The fewest edits from one text to another; a larger number than `most` if there are more.
function countEdits(from: string, to: string, most: number): number {
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  const left = from.slice(same);
  const right = to.slice(same);
  if (left === "" || right === "" || most === 0) return Math.max(left.length, right.length);
  const edits = [
    countEdits(left.slice(1), right.slice(1), most - 1),
    countEdits(left.slice(1), right, most - 1),
    countEdits(left, right.slice(1), most - 1),
  ];
  return 1 + Math.min(...edits);
}
