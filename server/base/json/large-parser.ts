import { WorkSlice } from "@/server/base/work-slice";
import { expectIndexes, isIndex, type Json, type JsonObject, setMember } from "./json";
import { JsonTextError } from "./text";

/** Up to this length a text is parsed in one go. */
export const PART_LENGTH = 16 * 1024;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The long lists and objects that were made here. The value: an object's keys in JavaScript's order, or null for a list. */
const keysOfLong = new WeakMap<object, readonly string[] | null>();

/** Returns true if a value is known to be long, because it was made here. */
export function isKnownLong(value: object): boolean {
  return keysOfLong.has(value);
}

/** The keys of an object. Those of a long one are known: to list 100,000 takes the process a tenth of a second. */
export function keysOf(object: JsonObject): readonly string[] {
  return keysOfLong.get(object) ?? Object.keys(object);
}

/** Makes a long object, member by member; it must not be changed afterwards. */
export class LongObject {
  readonly object: JsonObject = {};
  readonly #names: string[] = [];
  readonly #indexes: number[] = [];

  set(key: string, member: Json): void {
    if (!Object.hasOwn(this.object, key)) {
      if (!isIndex(key)) this.#names.push(key);
      else if (this.#indexes.push(Number(key)) === 1) expectIndexes(this.object);
    }
    setMember(this.object, key, member);
  }

  finish(): JsonObject {
    const indexes = Array.from(Uint32Array.from(this.#indexes).sort(), String);
    keysOfLong.set(this.object, indexes.length === 0 ? this.#names : indexes.concat(this.#names));
    return this.object;
  }
}

/** A container whose end has not been read yet. */
type Container = {
  isList: boolean;
  start: number;
  /** The start of its current member. */
  member: number;
  /** The start of its text that is not parsed yet, and the state before that. */
  from: number;
  after: "start" | "comma" | "long member";
  /** The parsed part of it. Null while it is short: then it is parsed within its parent. */
  parsed: Json[] | LongObject | null;
  /** The name of its current member, if that is long. */
  key: string;
};

const malformed = () => new JsonTextError("The text is not JSON.");

/**
 * Parses a long JSON text in turns with other work: short members of a container in groups, long members on their own.
 * `parsePart` parses the parts, and rejects malformed ones. Throws JsonTextError.
 */
export async function parseInParts(
  text: string,
  { depth, parsePart }: { depth: number; parsePart: (text: string) => Json },
): Promise<Json> {
  const open: Container[] = [];

  const begin = (start: number, code: number): Container => {
    if (open.length > depth) throw new JsonTextError(`The JSON is nested deeper than ${depth} levels.`);
    const from = start + 1;
    const isList = code === OPEN_LIST;
    const begun: Container = { isList, start, member: from, from, after: "start", parsed: null, key: "" };
    open.push(begun);
    return begun;
  };

  /** Parses the rest of a container's text before a comma, a long member, or its end. */
  const parseUpTo = (container: Container, at: number, { isEnd = false } = {}): void => {
    const { isList, from, after } = container;
    if (container.parsed === null) separate(container);
    const inside = text.slice(from, at);
    const members = Object.entries(parsePart(isList ? `[${inside}]` : `{${inside}}`) ?? {});
    for (const [key, member] of members) add(container, key, member);
    const mayBeEmpty = after === "long member" || (after === "start" && isEnd);
    if (members.length > 0 ? after === "long member" : !mayBeEmpty) throw malformed();
  };

  /** Begins to parse a long container on its own, after what precedes it in its parent. */
  const separate = (container: Container): void => {
    const parent = open[open.indexOf(container) - 1];
    if (parent === undefined || parent.after === "long member") throw malformed();
    if (parent.parsed === null) separate(parent);
    if (parent.member > parent.from) parseUpTo(parent, parent.member - 1);
    // The member's name and colon, or nothing in a list: anything else is malformed with `null`.
    const before = text.slice(parent.member, container.start);
    const member = parsePart(parent.isList ? `[${before}null]` : `{${before}null}`);
    [parent.key = ""] = Object.keys(member ?? {});
    container.parsed = container.isList ? [] : new LongObject();
  };

  const slice = new WorkSlice();
  // The text is read as the inside of a list, which must have one item.
  const documents: Json[] = [];
  let current = begin(-1, OPEN_LIST);
  current.parsed = documents;
  let nextPause = PART_LENGTH;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= nextPause) {
      nextPause = at + PART_LENGTH;
      if (slice.isOver) await slice.next();
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) {
      if (current.after === "long member" || at - current.from > PART_LENGTH) {
        parseUpTo(current, at);
        current.from = at + 1;
        current.after = "comma";
      }
      current.member = at + 1;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) current = begin(at, code);
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const isLong = current.parsed !== null || at - current.from > PART_LENGTH;
      if (isLong) parseUpTo(current, at, { isEnd: true });
      if (isLong && current.isList !== (code === CLOSE_LIST)) throw malformed();
      open.pop();
      const parent = open.at(-1);
      if (parent === undefined) throw malformed();
      if (isLong) {
        add(parent, parent.key, finish(current));
        parent.from = at + 1;
        parent.after = "long member";
      }
      current = parent;
    }
  }
  parseUpTo(current, text.length, { isEnd: true });
  const [document] = documents;
  if (open.length > 1 || documents.length > 1 || document === undefined) throw malformed();
  return document;
}

/** The index of the closing quote of the string that starts at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  throw malformed();
}

function add({ parsed }: Container, key: string, member: Json): void {
  if (parsed instanceof LongObject) parsed.set(key, member);
  else parsed?.push(member);
}

function finish({ parsed }: Container): Json {
  if (parsed instanceof LongObject) return parsed.finish();
  if (parsed !== null) keysOfLong.set(parsed, null);
  return parsed;
}
