import { type Json, memberOf } from "@/server/base/json/json";
import { MOST_STEPS } from "@/server/base/json/small";

/** Gives the results of JSONata (plain-reference.test.ts), except that values keep all their digits. */

type Step = { name: string; indexes: number[] };

const RESERVED = new Set(["and", "or", "in", "true", "false", "null", "function"]);
const WHOLE =
  /^(?:[A-Za-z_]\w*|`[^`]*`)(?:\[-?(?:0|[1-9]\d{0,8})\])*(?:\.(?:[A-Za-z_]\w*|`[^`]*`)(?:\[-?(?:0|[1-9]\d{0,8})\])*)*$/;
// JSONata's white space: less than String.prototype.trim removes.
const SPACE_AROUND = /^[ \t\n\r\v]+|[ \t\n\r\v]+$/g;
const STEP = /(?:([A-Za-z_]\w*)|`([^`]*)`)((?:\[-?\d+\])*)/g;
const MAX_LENGTH = 1000;

/** JSONata's sequence: a list that it created, which counts as its only item if it has one. */
class Sequence {
  readonly items: readonly Json[];

  constructor(items: readonly Json[]) {
    this.items = items;
  }
}

type Found = Json | Sequence | undefined;

function itemsOf(found: Found): readonly Json[] {
  if (found instanceof Sequence) return found.items;
  if (Array.isArray(found)) return found;
  return found === undefined ? [] : [found];
}

/**
 * The value of a reference (undefined: nothing found). Null if the sandbox must evaluate the expression: no plain
 * reference, or too many values.
 */
export function evaluateReference(expression: string, input: Json): { value: Json | undefined } | null {
  const path = parseReference(expression);
  if (path === null) return null;
  let left = MOST_STEPS;

  const add = (found: Found, list: Json[]): void => {
    const items = itemsOf(found);
    if (list.length + items.length > MOST_STEPS) left = 0;
    else for (const item of items) list.push(item);
  };
  const lookUp = (value: Json, name: string): Found => {
    left -= 1;
    if (!Array.isArray(value)) return memberOf(value, name);
    const list: Json[] = [];
    const collect = (items: readonly Json[]): void => {
      for (const item of items) {
        if (left <= 0) return;
        left -= 1;
        if (Array.isArray(item)) collect(item);
        else add(memberOf(item, name), list);
      }
    };
    collect(value);
    return list.length > 1 ? new Sequence(list) : list[0];
  };
  const pick = (found: Found, index: number): Found => {
    left -= 1;
    const item = itemsOf(found).at(index);
    return Array.isArray(item) ? item : new Sequence(item === undefined ? [] : [item]);
  };

  let context: Json[] = [input];
  for (const [at, { name, indexes }] of path.entries()) {
    const found: Found[] = [];
    for (const item of context) {
      const value = indexes.reduce<Found>(pick, lookUp(item, name));
      if (left <= 0) return null;
      if (value !== undefined) found.push(value);
    }
    const [only] = found;
    // The last step keeps a single list as it is.
    if (at === path.length - 1 && found.length === 1 && Array.isArray(only)) return { value: only };
    context = [];
    for (const value of found) add(value, context);
    if (left <= 0) return null;
  }
  return { value: context.length > 1 ? context : context[0] };
}

/** The steps of an expression that is only a path of names and indexes, else null. */
export function parseReference(expression: string): Step[] | null {
  if (expression.length > MAX_LENGTH) return null;
  const text = expression.replace(SPACE_AROUND, "");
  if (!WHOLE.test(text)) return null;
  const steps: Step[] = [];
  for (const [, word, quoted, indexes = ""] of text.matchAll(STEP)) {
    if (word !== undefined && RESERVED.has(word)) return null;
    const name = word ?? quoted ?? "";
    steps.push({ name, indexes: Array.from(indexes.matchAll(/-?\d+/g), ([digits]) => Number(digits)) });
  }
  return steps;
}
