import { takeTurn, WorkSlice } from "@/server/base/work-slice";
import { isContainer, isJsonObject, type Json, type JsonObject, readJson, writeJson } from "./json";
import { isKnownLong, keysOf, LongObject, PART_LENGTH, parseInParts } from "./large-parser";
import { MAX_JSON_DEPTH, parseJson } from "./text";

/**
 * JSON that may be large. `JSON.parse` and `JSON.stringify` need up to a tenth of a second for a document of 1 MiB with
 * 100,000 keys. The process answers nobody meanwhile. Small documents are processed in one go; large ones in parts, in
 * turns with other work.
 */

/** Up to this weight (`isSmall`) a value is processed in one go. */
const PART_WEIGHT = 1_000;
/** The number of short members that are written before the turn may end. */
const GROUP_LENGTH = 64;
/** The number of characters that weigh as much as one value. */
const CHARACTERS_PER_WEIGHT = 64;

/** Parses untrusted JSON like `parseJson`. Throws JsonTextError. */
export async function parseLargeJson(text: string): Promise<Json> {
  if (text.length <= PART_LENGTH) return parseJson(text);
  return parseInParts(text, { depth: MAX_JSON_DEPTH, parsePart: parseJson });
}

/** Parses JSON that `writeJson` or this module wrote. */
export async function readLargeJson(text: string): Promise<Json> {
  if (text.length <= PART_LENGTH) return readJson(text);
  const value = await parseInParts(text, { depth: Infinity, parsePart: readJson });
  if (isContainer(value)) texts.set(value, text);
  return value;
}

/** The texts of large values, which are never changed: several steps of a run write the same input. */
const texts = new WeakMap<object, string>();

/** The JSON text of a value, like `writeJson`. A large value must not be changed afterwards. */
export async function stringifyLarge(value: Json): Promise<string> {
  return isSmall(value) ? writeJson(value) : writeLarge(value, new WorkSlice());
}

/** The size of a value's JSON text in UTF-8 bytes. */
export async function largeJsonBytes(value: Json): Promise<number> {
  return Buffer.byteLength(await stringifyLarge(value));
}

/** The changes that `mapLarge` makes. */
type LargeMap = {
  /** Changes a part that is `depth` levels deep. */
  part: (value: Json, depth: number) => Json;
  key: (key: string) => string;
  /** From this depth on, values are given to `part`, however large. */
  depth: number;
};

/** Changes a value part by part. The containers of large values are rebuilt. */
export function mapLarge(value: Json, map: LargeMap): Promise<Json> {
  return mapParts(value, map, { depth: 0, slice: new WorkSlice() });
}

async function mapParts(value: Json, map: LargeMap, at: { depth: number; slice: WorkSlice }): Promise<Json> {
  const { depth, slice } = at;
  if (depth >= map.depth || isPart(value)) return map.part(value, depth);
  if (!isContainer(value)) {
    await takeTurn();
    return map.part(value, depth);
  }
  const inner = { depth: depth + 1, slice };
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      if (slice.isOver) await slice.next();
      items.push(isPart(item) ? map.part(item, depth + 1) : await mapParts(item, map, inner));
    }
    return items;
  }
  const object = new LongObject();
  for (const key of keysOf(value)) {
    if (slice.isOver) await slice.next();
    const member = value[key];
    if (member === undefined) continue;
    const mapped = isPart(member) ? map.part(member, depth + 1) : await mapParts(member, map, inner);
    object.set(map.key(key), mapped);
  }
  return object.finish();
}

/** True if a member of a value is processed in one go with others. A long text takes a turn of its own. */
function isPart(value: Json): boolean {
  if (typeof value === "string") return value.length <= PART_WEIGHT * CHARACTERS_PER_WEIGHT;
  return !isContainer(value) || isSmall(value);
}

/** Returns true if a value is processed within a part's time. Counts values and characters no further than that. */
export function isSmall(value: Json): boolean {
  let weight = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    weight += 1;
    if (isContainer(next) && (isKnownLong(next) || texts.has(next))) return false;
    if (typeof next === "string") weight += next.length / CHARACTERS_PER_WEIGHT;
    else if (Array.isArray(next)) {
      if (next.length > PART_WEIGHT) return false;
      for (const item of next) open.push(item);
    } else if (isJsonObject(next)) {
      for (const key in next) {
        weight += 1 + key.length / CHARACTERS_PER_WEIGHT;
        if (weight > PART_WEIGHT) return false;
        const member = next[key];
        if (member !== undefined) open.push(member);
      }
    }
    if (weight > PART_WEIGHT) return false;
  }
  return true;
}

async function writeLarge(value: Json, slice: WorkSlice): Promise<string> {
  if (!isContainer(value)) {
    if (!isPart(value)) await takeTurn();
    return writeJson(value);
  }
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = Array.isArray(value) ? await writeList(value, slice) : await writeObject(value, slice);
  texts.set(value, text);
  return text;
}

async function writeList(items: readonly Json[], slice: WorkSlice): Promise<string> {
  const parts: string[] = [];
  let group: Json[] = [];
  const writeGroup = () => {
    if (group.length > 0) parts.push(writeJson(group).slice(1, -1));
    group = [];
  };
  for (const item of items) {
    if (isPart(item)) {
      group.push(item);
      if (group.length < GROUP_LENGTH && (!isContainer(item) || !slice.isOver)) continue;
      writeGroup();
    } else {
      writeGroup();
      parts.push(await writeLarge(item, slice));
    }
    if (slice.isOver) await slice.next();
  }
  writeGroup();
  return `[${parts.join(",")}]`;
}

async function writeObject(object: JsonObject, slice: WorkSlice): Promise<string> {
  let text = "";
  let count = 0;
  for (const key of keysOf(object)) {
    count += 1;
    if (count % GROUP_LENGTH === 0 && slice.isOver) await slice.next();
    const member = object[key];
    // Members without a value are left out, as by JSON.stringify.
    if (member === undefined) continue;
    const written = isPart(member) ? writeJson(member) : await writeLarge(member, slice);
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${written}`;
  }
  return `{${text}}`;
}
