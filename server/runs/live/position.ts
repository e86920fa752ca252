/**
 * The place of a reader in the events of a run: the number of the last one that it has. `children` has its places in
 * the runs that were called by steps that it knows as started but not as completed.
 */
export type Position = { n: number; children: ReadonlyMap<number, ChildPosition> };
/** Of the `attempt`th run that a step called. The key of a child is the number of the event that its step started with. */
export type ChildPosition = Position & { attempt: number };

export const START: Position = { n: 0, children: new Map() };

const MAX_LENGTH = 4_000;
// Runs that call runs are not nested as deeply.
const MAX_DEPTH = 20;

/** As an event's id: `12`, or `12(7.1:5)` for the fifth event of the run that the step of event 7 called. */
export function writePosition({ n, children }: Position): string {
  if (children.size === 0) return String(n);
  const each = [...children].map(([step, child]) => `${step}.${child.attempt}:${writePosition(child)}`);
  return `${n}(${each.join(",")})`;
}

/** Null if the text is none. */
export function readPosition(text: string): Position | null {
  if (text.length > MAX_LENGTH) return null;
  let at = 0;
  const take = (expected: string): boolean => {
    if (text[at] !== expected) return false;
    at += 1;
    return true;
  };
  const takeNumber = (): number | null => {
    const [digits] = /^\d{1,9}/.exec(text.slice(at, at + 9)) ?? [];
    if (digits === undefined) return null;
    at += digits.length;
    return Number(digits);
  };
  const takePosition = (depth: number): Position | null => {
    const n = takeNumber();
    if (n === null || depth > MAX_DEPTH) return null;
    const children = new Map<number, ChildPosition>();
    if (!take("(")) return { n, children };
    do {
      const step = takeNumber();
      const attempt = take(".") ? takeNumber() : null;
      const child = take(":") ? takePosition(depth + 1) : null;
      if (step === null || attempt === null || child === null) return null;
      children.set(step, { ...child, attempt });
    } while (take(","));
    return take(")") ? { n, children } : null;
  };
  const position = takePosition(0);
  return at === text.length ? position : null;
}
