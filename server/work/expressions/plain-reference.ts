import { isContainer, isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { keysOf } from "@/server/base/json/large-parser";
import { WorkSlice } from "@/server/base/work-slice";
import { MIB } from "@/server/contract/sizes";

/**
 * Evaluates expressions that only look something up (`input.a.b`, `steps.fetch.body.items[0].name`), which is most of
 * them, without the sandbox. The cost is a walk over the value. Results equal JSONata's (plain-reference.test.ts
 * compares them); where that is not certain, null leaves it to the sandbox.
 */

/** One step of a path: a name and its indexes. */
type Step = { name: string; indexes: number[] };

/** Words with another meaning in JSONata. */
const RESERVED = new Set(["and", "or", "in", "true", "false", "null", "function"]);
const WHOLE =
  /^(?:[A-Za-z_]\w*|`[^`]*`)(?:\[-?(?:0|[1-9]\d{0,8})\])*(?:\.(?:[A-Za-z_]\w*|`[^`]*`)(?:\[-?(?:0|[1-9]\d{0,8})\])*)*$/;
/** JSONata's white space: less than String.prototype.trim removes. */
const SPACE_AROUND = /^[ \t\n\r\v]+|[ \t\n\r\v]+$/g;
const STEP = /(?:([A-Za-z_]\w*)|`([^`]*)`)((?:\[-?\d+\])*)/g;
/** Longer expressions are rarely references; the bound keeps the patterns cheap. */
const MAX_LENGTH = 1000;
/** The longest sequence, as set for JSONata in the sandbox. */
const MAX_SEQUENCE = 200_000;
/** The most values that an evaluation may visit; a longer walk is left to another thread. */
const MAX_VISITS = 20_000;
/** The most strings, keys and values in a result; a larger one is left to another thread. */
const MAX_RESULT_NODES = 1_000_000;
const MAX_RESULT_LENGTH = 4 * MIB;

/** The value of a reference (undefined: nothing found), or null if the sandbox must evaluate the expression. */
export async function evaluateReference(
  expression: string,
  input: Json,
): Promise<{ value: Json | undefined } | null> {
  const steps = parseReference(expression);
  if (steps === null) return null;
  try {
    const value = new Walk().take(steps, input);
    return value === undefined || (await isPassedOn(value)) ? { value } : null;
  } catch (error) {
    if (error instanceof Uncertain) return null;
    throw error;
  }
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

/** JSONata may treat this value differently or reject it, or looking it up here takes too long. */
class Uncertain extends Error {}

/** JSONata's sequence: a list that it created, which counts as its only item if it has one. */
class Sequence {
  readonly items: Json[] = [];

  push(item: Json): void {
    if (this.items.length >= MAX_SEQUENCE) throw new Uncertain();
    this.items.push(item);
  }

  /** Adds the items of a list, or one value. */
  append(value: Json | Sequence | undefined): void {
    if (value instanceof Sequence) for (const item of value.items) this.push(item);
    else if (Array.isArray(value)) for (const item of value) this.push(item);
    else if (value !== undefined) this.push(value);
  }

  unwrap(): Json | Sequence | undefined {
    return this.items.length > 1 ? this : this.items[0];
  }
}

/** One evaluation, with a bounded number of visits. */
class Walk {
  #visits = 0;

  take(steps: readonly Step[], input: Json): Json | undefined {
    let context: Json[] = [input];
    let result: Json | Sequence | undefined;
    for (const [index, step] of steps.entries()) {
      result = this.#takeStep(step, context, index === steps.length - 1);
      context = result instanceof Sequence ? result.items : result;
      if (context.length === 0) break;
    }
    const value = result instanceof Sequence ? result.unwrap() : result;
    return value instanceof Sequence ? value.items : value;
  }

  #visit(): void {
    this.#visits += 1;
    if (this.#visits > MAX_VISITS) throw new Uncertain();
  }

  /** Applies a step to each item of its context. The last step keeps a single list as it is. */
  #takeStep({ name, indexes }: Step, context: readonly Json[], last: boolean): Json[] | Sequence {
    const found: (Json | Sequence)[] = [];
    for (const item of context) {
      let value = this.#lookUp(item, name);
      if (value instanceof Sequence) value = value.unwrap();
      for (const index of indexes) value = this.#pick(value, index);
      if (value !== undefined) found.push(value);
    }
    const [only] = found;
    if (last && found.length === 1 && Array.isArray(only)) return only;
    const flat = new Sequence();
    for (const value of found) flat.append(value);
    return flat;
  }

  /** A name in an object, or in each item of a list. */
  #lookUp(value: Json, name: string): Json | Sequence | undefined {
    this.#visit();
    if (Array.isArray(value)) {
      const found = new Sequence();
      for (const item of value) found.append(this.#lookUp(item, name));
      return found;
    }
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    if (mayBeFunction(value)) throw new Uncertain();
    return value[name];
  }

  /** The item at an index of a list; any other value is a list of one. */
  #pick(value: Json | Sequence | undefined, index: number): Json | Sequence | undefined {
    this.#visit();
    const items = value instanceof Sequence ? value.items : Array.isArray(value) ? value : [value];
    const item = items[index < 0 ? items.length + index : index];
    if (item === undefined || Array.isArray(item)) return item ?? new Sequence();
    const results = new Sequence();
    results.push(item);
    return results;
  }
}

/** JSONata marks its functions like this, and a tenant's data may have the same marks. */
function mayBeFunction(value: JsonObject): boolean {
  return "_jsonata_lambda" in value || "_jsonata_function" in value;
}

/** Large values that were checked: each step of a run may refer to the same one. */
const passedOn = new WeakSet<object>();
const MIN_REMEMBERED_NODES = 1_000;

/**
 * Returns true if JSONata would return this very value: no text needs cleaning, and nothing looks like one of its
 * functions.
 */
async function isPassedOn(result: Json): Promise<boolean> {
  if (isContainer(result) && passedOn.has(result)) return true;
  const slice = new WorkSlice();
  let nodes = 0;
  let length = 0;
  const isClean = (text: string) => {
    length += text.length;
    return !text.includes("\0") && text.isWellFormed();
  };
  const open: Json[] = [result];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    nodes += 1;
    if ((nodes & 0xff) === 0 && slice.isOver) await slice.next();
    if (nodes > MAX_RESULT_NODES || length > MAX_RESULT_LENGTH) return false;
    if (typeof value === "string") {
      if (!isClean(value)) return false;
    } else if (Array.isArray(value)) {
      if (value.length > MAX_RESULT_NODES) return false;
      for (const item of value) open.push(item);
    } else if (isJsonObject(value)) {
      if (mayBeFunction(value)) return false;
      const keys = keysOf(value);
      if (keys.length > MAX_RESULT_NODES) return false;
      for (const key of keys) {
        if (!isClean(key)) return false;
        const member = value[key];
        if (member !== undefined) open.push(member);
      }
    }
  }
  if (nodes > MIN_REMEMBERED_NODES && isContainer(result)) passedOn.add(result);
  return true;
}
