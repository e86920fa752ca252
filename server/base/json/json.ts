export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** Whether a parsed JSON value is an object (not an array, not null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined if the text is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The largest index of an array. */
const LAST_INDEX = 2 ** 32 - 2;

/** Whether a key is the index of an array: JavaScript lists these first, by their number. */
export function isIndex(key: string): boolean {
  return /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) <= LAST_INDEX;
}

/**
 * Prepares an object for keys that are indexes. Otherwise V8 reserves 12 KB for the key "1000" alone; after a far index, it
 * keeps them in a dictionary, as `JSON.parse` does.
 */
export function expectIndexes(object: JsonObject): void {
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

/** Sets a member as `JSON.parse` does: `__proto__` is an ordinary name. */
export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
