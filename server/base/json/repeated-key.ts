import { endOfString } from "./exact-number";
import { type Json, readJson } from "./json";
import { JsonTextError, requireFinite } from "./text";

/** A key that an object of a JSON text has twice: JSON.parse keeps only the last value. `path` ends with the key. */
export type RepeatedKey = { path: (string | number)[]; key: string };

type Open = { parent: Open | null; isList: boolean; at: number; key: string; keys: Set<string> | null };

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Searches a valid JSON text for the first repeated key, and yields after at most `pace` steps of work. */
export function* searchRepeatedKey(text: string, pace: number): Generator<undefined, RepeatedKey | null> {
  // Around the document.
  const root: Open = { parent: null, isList: true, at: 0, key: "", keys: null };
  let open = root;
  let isKeyNext = false;
  let nextPause = pace;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= nextPause) {
      nextPause = at + pace;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isKeyNext) {
        isKeyNext = false;
        open.key = readKey(text, at, end);
        if (open.keys === null) open.keys = new Set();
        else if (open.keys.has(open.key)) return { path: pathOf(open), key: open.key };
        open.keys.add(open.key);
      }
      at = end;
    } else if (code === COMMA) {
      if (open.isList) open.at += 1;
      else isKeyNext = true;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      const isList = code === OPEN_LIST;
      open = { parent: open, isList, at: 0, key: "", keys: null };
      isKeyNext = !isList;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open = open.parent ?? root;
      isKeyNext = false;
    }
  }
  return null;
}

function readKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes("\\") ? String(readJson(text.slice(start, end + 1))) : raw;
}

function pathOf(open: Open): (string | number)[] {
  const path: (string | number)[] = [];
  for (let each = open; each.parent !== null; each = each.parent)
    path.unshift(each.isList ? each.at : each.key);
  return path;
}

const MAX_SHOWN = 100;
const shown = (text: string) => {
  const clean = text.replaceAll("\0", "\uFFFD").toWellFormed();
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…`.toWellFormed() : clean;
};

/** `The key "a" appears twice in user.items[0].` */
export function describeRepeatedKey({ path, key }: RepeatedKey): string {
  const around = path.slice(0, -1).map((each) => (typeof each === "number" ? `[${each}]` : `.${each}`));
  const place = around.join("").replace(/^\./, "");
  return `The key ${JSON.stringify(shown(key))} appears twice${place === "" ? "" : ` in ${shown(place)}`}.`;
}

/**
 * The issue of a JSON text with a repeated key or a number that is too large; undefined for other texts, also those that
 * are not JSON.
 */
export function typedJsonIssue(text: string): string | undefined {
  try {
    readTypedJson(text);
    return undefined;
  } catch (error) {
    return error instanceof JsonTextError ? error.message : undefined;
  }
}

/** JSON that a person typed, like `readJson`. Throws JsonTextError if a key is repeated or a number is too large. */
export function readTypedJson(text: string): Json {
  const value = readJson(text);
  requireFinite(text, value);
  const { value: repeated } = searchRepeatedKey(text, Number.POSITIVE_INFINITY).next();
  if (repeated) throw new JsonTextError(describeRepeatedKey(repeated));
  return value;
}
