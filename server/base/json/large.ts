import { takeTurn, WorkSlice } from "@/server/base/scheduling/event-loop";
import { buildLong, isContainer, type Json, type JsonObject, keysOf, readJson, writeJson } from "./json";
import { parseInParts } from "./large-parser";
import { type RepeatedKey, searchRepeatedKey } from "./repeated-key";
import { isSmall, MOST_STEPS } from "./small";
import { MAX_JSON_DEPTH, parseJson } from "./text";

/**
 * Large documents are processed in parts, in turns with other work: parsing or writing 1 MiB with 100,000 keys
 * takes up to a tenth of a second, and so does receiving the result of a thread.
 */

/** Parses untrusted JSON like `parseJson`. Throws JsonTextError. */
export async function parseLargeJson(text: string): Promise<Json> {
  if (text.length <= MOST_STEPS) return parseJson(text);
  return parseInParts(text, { depth: MAX_JSON_DEPTH, parsePart: parseJson });
}

/** The first key that an object of a valid JSON text has twice; null if there is none. */
export async function findRepeatedKey(text: string): Promise<RepeatedKey | null> {
  const search = searchRepeatedKey(text, MOST_STEPS);
  const slice = new WorkSlice();
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
    if (slice.isOver) await slice.next();
  }
}

/** Parses JSON that `writeJson` or this module wrote. */
export async function readLargeJson(text: string): Promise<Json> {
  if (text.length <= MOST_STEPS) return readJson(text);
  const value = await parseInParts(text, { depth: Infinity, parsePart: readJson });
  if (isContainer(value)) texts.set(value, text);
  return value;
}

// These values never change: several steps of a run write the same input.
const texts = new WeakMap<object, string>();

/** The JSON text of a value, like `writeJson`. A large value must not be changed afterwards. */
export async function stringifyLarge(value: Json): Promise<string> {
  return isSmall(value)
    ? writeJson(value)
    : makeInParts(value, WRITING, { depth: 0, slice: new WorkSlice() });
}

/** The size of a value's JSON text in UTF-8 bytes. */
export async function largeJsonBytes(value: Json): Promise<number> {
  return Buffer.byteLength(await stringifyLarge(value));
}

type LargeMap = {
  part: (value: Json, depth: number) => Json;
  /** Instead of `part`. */
  long: (text: string) => Promise<Json>;
  key: (key: string) => string;
  /** From here on, values go to `part`, however large. */
  depth: number;
};

/** Changes a value part by part. The containers of large values are rebuilt. */
export async function mapLarge(value: Json, { part, long, key, depth }: LargeMap): Promise<Json> {
  if (isSmall(value)) return part(value, 0);
  const open: Making<Json>["open"] = (container) => {
    const { add, finish } = buildLong(Array.isArray(container));
    return { add: (name, member) => add(key(name), member), finish };
  };
  return makeInParts(value, { part, long, open, depth }, { depth: 0, slice: new WorkSlice() });
}

type Making<Made> = {
  part: (value: Json, depth: number) => Made;
  long?: (text: string) => Promise<Made>;
  open: (container: Json[] | JsonObject) => { add: (key: string, made: Made) => void; finish: () => Made };
  depth: number;
  known?: (container: Json[] | JsonObject) => Made | undefined;
};

const WRITING: Making<string> = {
  part: (value) => writeJson(value),
  open(container) {
    const members: string[] = [];
    const isList = Array.isArray(container);
    return {
      add: (key, text) => void members.push(isList ? text : `${JSON.stringify(key)}:${text}`),
      finish() {
        const text = isList ? `[${members.join(",")}]` : `{${members.join(",")}}`;
        texts.set(container, text);
        return text;
      },
    };
  },
  depth: Infinity,
  known: (container) => texts.get(container),
};

async function makeInParts<Made>(
  value: Json,
  making: Making<Made>,
  { depth, slice }: { depth: number; slice: WorkSlice },
): Promise<Made> {
  if (typeof value === "string" && making.long !== undefined) return making.long(value);
  if (!isContainer(value) || depth >= making.depth) {
    await takeTurn();
    return making.part(value, depth);
  }
  const known = making.known?.(value);
  if (known !== undefined) return known;
  const { add, finish } = making.open(value);
  const inner = { depth: depth + 1, slice };
  for (const [key, member] of membersOf(value)) {
    if (slice.isOver) await slice.next();
    add(key, isSmall(member) ? making.part(member, depth + 1) : await makeInParts(member, making, inner));
  }
  return finish();
}

// Omits members without a value, as JSON.stringify does.
function* membersOf(container: Json[] | JsonObject): Generator<[key: string, member: Json]> {
  if (Array.isArray(container)) for (const item of container) yield ["", item];
  else
    for (const key of keysOf(container)) {
      const member = container[key];
      if (member !== undefined) yield [key, member];
    }
}
