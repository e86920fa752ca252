import {
  EXACT_MARK,
  type ExactNumber,
  isExactNumber,
  isExactNumberError,
  markExact,
  unmarkExact,
  unmarkValue,
} from "./exact-number";

export type Json = string | number | ExactNumber | boolean | null | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

export function isContainer(value: Json | undefined): value is Json[] | JsonObject {
  return typeof value === "object" && value !== null && !isExactNumber(value);
}

/** The member of an object; undefined if there is none, or the value is no object. */
export function memberOf(value: Json, name: string): Json | undefined;
export function memberOf(value: unknown, name: string): unknown;
export function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The member of an object, or the item of a list; undefined if there is none. */
export function valueAt(value: unknown, key: string | number): unknown {
  if (!Array.isArray(value)) return memberOf(value, String(key));
  const items: readonly unknown[] = value;
  return items[Number(key)];
}

/** JSON.parse that keeps numbers beyond doubles as ExactNumber; infinite ones are Infinity. */
export function readJson(text: string): Json {
  // Also checks the text: marks would make numbers valid as keys.
  const value: Json = JSON.parse(text);
  const marked = markExact(text);
  return marked === text ? value : JSON.parse(marked, (_key, member: unknown) => unmarkValue(member));
}

/** JSON.stringify that writes the digits of ExactNumber. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return indent === undefined ? JSON.stringify(value) : JSON.stringify(value, null, indent);
  } catch (error) {
    if (!isExactNumberError(error)) throw error;
  }
  return unmarkExact(
    JSON.stringify(
      isExactNumber(value) ? mark(value) : value,
      (_key, member: unknown) => markMembers(member),
      indent,
    ),
  );
}

const mark = (value: Json): Json => (isExactNumber(value) ? EXACT_MARK + value.text : value);

// JSON.stringify calls `toJSON` before its replacer, so that members are marked with what holds them.
function markMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(mark);
  const members: [string, Json][] = Object.entries(value);
  if (!members.some(([, member]) => isExactNumber(member))) return value;
  return objectOf(members.map(([key, member]) => [key, mark(member)]));
}

/** A value for code that calls JSON.stringify itself; `unmarkExact` gives its text the digits. */
export function markJson<Value extends Json>(value: Value): Value {
  const text = writeJson(value);
  const marked = markExact(text);
  return marked === text ? value : JSON.parse(marked);
}

export function tryParseJson(text: string): Json | undefined {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

const LAST_INDEX = 2 ** 32 - 2;

// JavaScript lists these keys first, by their number.
function isIndex(key: string): boolean {
  return /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) <= LAST_INDEX;
}

// Otherwise V8 reserves 12 KB for the key "1000" alone; after a far index, it uses a dictionary, as
// `JSON.parse` does.
function expectIndexes(object: JsonObject): void {
  object[LAST_INDEX] = null;
  delete object[LAST_INDEX];
}

/** An object with these members, like `Object.fromEntries`, which takes fifty times the memory if keys are indexes. */
export function objectOf(members: readonly (readonly [string, Json])[]): JsonObject {
  if (!members.some(([key]) => isIndex(key))) return Object.fromEntries(members);
  const object: JsonObject = {};
  expectIndexes(object);
  for (const [key, value] of members) setMember(object, key, value);
  return object;
}

/** Parses JSON like `tryParseJson`, with marked numbers. */
export function tryParseMarked(text: string): Json | undefined {
  const value = tryParseJson(text);
  return value === undefined ? undefined : markJson(value);
}

/** Sets a member as `JSON.parse` does: `__proto__` is an ordinary name. */
export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

// Listing 100,000 keys takes up to a tenth of a second.
const keysOfLong = new WeakMap<JsonObject, readonly string[]>();

/** The keys of an object, without listing those that `buildLong` knows. */
export function keysOf(object: JsonObject): readonly string[] {
  return keysOfLong.get(object) ?? Object.keys(object);
}

/** Builds a long list or object. The keys of a list's items are ignored. */
export function buildLong(isList: boolean): { add: (key: string, value: Json) => void; finish: () => Json } {
  const items: Json[] = [];
  if (isList) return { add: (_key, item) => void items.push(item), finish: () => items };
  const object: JsonObject = {};
  const names: string[] = [];
  const indexes: number[] = [];
  return {
    add(key, member) {
      if (!Object.hasOwn(object, key)) {
        if (!isIndex(key)) names.push(key);
        else if (indexes.push(Number(key)) === 1) expectIndexes(object);
      }
      setMember(object, key, member);
    },
    finish() {
      const sorted = Array.from(Uint32Array.from(indexes).sort(), String);
      keysOfLong.set(object, sorted.length === 0 ? names : sorted.concat(names));
      return object;
    },
  };
}
