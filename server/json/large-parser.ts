import { WorkSlice } from "@/server/work-slice";
import { isJsonObject, type Json, type JsonObject, setMember } from "./json";
import { JsonTextError } from "./text";

/** Up to this length a text is parsed in one go. */
export const PART_LENGTH = 16 * 1024;
/** After how many characters a scan asks whether its turn is over. */
const SCAN_LENGTH = 32 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The containers that were made of more than one part; with the keys of objects, where they are in the order of insertion. */
const long = new WeakMap<object, readonly string[] | null>();

/** Whether a value is known to be long, because it was made here. */
export function isKnownLong(value: object): boolean {
  return long.has(value);
}

/** The keys of an object. Those of a long one are known: to list 100,000 takes the process a tenth of a second. */
export function keysOf(object: JsonObject): readonly string[] {
  return long.get(object) ?? Object.keys(object);
}

/** Keys that JavaScript lists before others, sorted. */
const INDEX = /^\d{1,10}$/;

/** Makes a long object, member by member; it must not be changed afterwards. */
export class LongObject {
  readonly object: JsonObject = {};
  #keys: string[] | null = [];

  set(key: string, member: Json): void {
    if (INDEX.test(key)) this.#keys = null;
    if (this.#keys !== null && !Object.hasOwn(this.object, key)) this.#keys.push(key);
    setMember(this.object, key, member);
  }

  finish(): JsonObject {
    long.set(this.object, this.#keys);
    return this.object;
  }
}

type Range = { start: number; end: number };
type Group = Range & { isLong: boolean };

const malformed = () => new JsonTextError("The text is not JSON.");

/**
 * Parses a long JSON text in turns with other work: the members of long containers in groups, and long members on their
 * own. `parsePart` parses the parts, and refuses what is malformed in them. Throws JsonTextError.
 */
export class LargeJsonParser {
  readonly #text: string;
  readonly #depth: number;
  readonly #parsePart: (text: string) => Json;
  readonly #slice = new WorkSlice();
  /** Where the containers that are longer than a part end, by their start. */
  readonly #ends = new Map<number, number>();

  constructor(text: string, { depth, parsePart }: { depth: number; parsePart: (text: string) => Json }) {
    this.#text = text;
    this.#depth = depth;
    this.#parsePart = parsePart;
  }

  async parse(): Promise<Json> {
    await this.#findLongContainers();
    return this.#parseValue({ start: 0, end: this.#text.length });
  }

  async #findLongContainers(): Promise<void> {
    const text = this.#text;
    const open: number[] = [];
    let nextPause = SCAN_LENGTH;
    for (let at = 0; at < text.length; at += 1) {
      if (at >= nextPause) {
        nextPause = at + SCAN_LENGTH;
        if (this.#slice.isOver) await this.#slice.next();
      }
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = this.#endOfString(at);
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        open.push(at);
        if (open.length > this.#depth)
          throw new JsonTextError(`The JSON is nested deeper than ${this.#depth} levels.`);
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        const start = open.pop();
        if (start === undefined) throw malformed();
        if (at - start > PART_LENGTH) this.#ends.set(start, at + 1);
      }
    }
    if (open.length > 0) throw malformed();
  }

  async #parseValue(range: Range): Promise<Json> {
    if (this.#slice.isOver) await this.#slice.next();
    const { start, end } = this.#trim(range);
    const first = this.#text.charCodeAt(start);
    const isContainer = first === OPEN_LIST || first === OPEN_OBJECT;
    if (!isContainer || end - start <= PART_LENGTH) return this.#parsePart(this.#text.slice(start, end));
    const closing = first === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT;
    if (this.#ends.get(start) !== end || this.#text.charCodeAt(end - 1) !== closing) throw malformed();
    const inside = this.#trim({ start: start + 1, end: end - 1 });
    return first === OPEN_LIST ? this.#parseList(inside) : this.#parseObject(inside);
  }

  async #parseList(inside: Range): Promise<Json[]> {
    const items: Json[] = [];
    long.set(items, null);
    for (const group of this.#groups(inside)) {
      if (group.isLong) {
        items.push(await this.#parseValue(group));
        continue;
      }
      if (this.#slice.isOver) await this.#slice.next();
      const parsed = this.#parsePart(`[${this.#text.slice(group.start, group.end)}]`);
      if (!Array.isArray(parsed) || parsed.length === 0) throw malformed();
      for (const item of parsed) items.push(item);
    }
    return items;
  }

  async #parseObject(inside: Range): Promise<Json> {
    const object = new LongObject();
    for (const group of this.#groups(inside)) {
      if (group.isLong) {
        const { key, value } = this.#splitMember(group);
        object.set(key, await this.#parseValue(value));
        continue;
      }
      if (this.#slice.isOver) await this.#slice.next();
      const parsed = this.#parsePart(`{${this.#text.slice(group.start, group.end)}}`);
      const members = isJsonObject(parsed) ? Object.entries(parsed) : [];
      if (members.length === 0) throw malformed();
      for (const [key, member] of members) object.set(key, member);
    }
    return object.finish();
  }

  /** The members of a container: short ones in groups of about a part, long ones alone. */
  *#groups({ start, end }: Range): Generator<Group> {
    if (start >= end) return;
    let group = start;
    let member = start;
    let depth = 0;
    for (let at = start; at <= end; at += 1) {
      const code = at === end ? COMMA : this.#text.charCodeAt(at);
      if (code === QUOTE) at = this.#endOfString(at);
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        const longEnd = this.#ends.get(at);
        if (longEnd === undefined) depth += 1;
        else at = longEnd - 1;
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
      else if (code === COMMA && depth === 0) {
        const isLong = at - member > PART_LENGTH;
        if (isLong) {
          if (member > group) yield { start: group, end: member - 1, isLong: false };
          yield { start: member, end: at, isLong };
        } else if (at - group > PART_LENGTH || at === end) yield { start: group, end: at, isLong };
        else {
          member = at + 1;
          continue;
        }
        group = at + 1;
        member = at + 1;
      }
    }
  }

  #splitMember(range: Range): { key: string; value: Range } {
    const { start, end } = this.#trim(range);
    if (this.#text.charCodeAt(start) !== QUOTE) throw malformed();
    const keyEnd = this.#endOfString(start) + 1;
    const key = this.#parsePart(this.#text.slice(start, keyEnd));
    const rest = this.#trim({ start: keyEnd, end });
    if (typeof key !== "string" || this.#text.charCodeAt(rest.start) !== COLON) throw malformed();
    return { key, value: { start: rest.start + 1, end } };
  }

  /** Where the string that starts at `at` has its closing quote. */
  #endOfString(at: number): number {
    for (let end = this.#text.indexOf('"', at + 1); end >= 0; end = this.#text.indexOf('"', end + 1)) {
      let first = end;
      while (this.#text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
      if ((end - first) % 2 === 0) return end;
    }
    throw malformed();
  }

  /** A range without JSON's white space at its ends. */
  #trim({ start, end }: Range): Range {
    let from = start;
    let to = end;
    while (from < to && isSpace(this.#text.charCodeAt(from))) from += 1;
    while (to > from && isSpace(this.#text.charCodeAt(to - 1))) to -= 1;
    return { start: from, end: to };
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
