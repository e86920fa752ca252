import { WorkSlice } from "@/server/base/scheduling/event-loop";
import { endOfString } from "./exact-number";
import { buildLong, type Json } from "./json";
import { MOST_STEPS } from "./small";
import { JsonLimitError, JsonTextError } from "./text";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

type Container = {
  parent: Container | null;
  level: number;
  isList: boolean;
  start: number;
  member: number;
  from: number;
  /** Null while it is short: then it is parsed within its parent. */
  parsed: ReturnType<typeof buildLong> | null;
  long: { start: number; end: number; value: Json } | null;
};

const malformed = () => new JsonTextError("The text is not JSON.");

/**
 * Parses a long JSON text in turns with other work. `parsePart` parses the parts, and rejects malformed ones.
 * Throws JsonTextError.
 */
export async function parseInParts(
  text: string,
  { depth, parsePart }: { depth: number; parsePart: (text: string) => Json },
): Promise<Json> {
  const begin = (parent: Container | null, start: number, isList: boolean): Container => {
    const level = parent === null ? 0 : parent.level + 1;
    if (level > depth) throw new JsonLimitError(`The JSON is nested deeper than ${depth} levels.`);
    return { parent, level, isList, start, member: start, from: start, parsed: null, long: null };
  };

  // In the parsed text, `null` stands for a long member.
  const parseUpTo = (container: Container, at: number, { isEnd = false } = {}): void => {
    const { isList, start, from, long } = container;
    const { add } = separate(container);
    const inside =
      long === null ? text.slice(from, at) : `${text.slice(from, long.start)}null${text.slice(long.end, at)}`;
    const members = Object.entries(parsePart(isList ? `[${inside}]` : `{${inside}}`) ?? {});
    const isEmpty = isEnd && from === start;
    if (members.length === 0 && !isEmpty) throw malformed();
    for (const [key, member] of members) add(key, long === null ? member : long.value);
    container.from = at + 1;
    container.long = null;
  };

  const separate = (container: Container): ReturnType<typeof buildLong> => {
    const { parent, parsed } = container;
    if (parsed !== null) return parsed;
    if (parent !== null) {
      separate(parent);
      if (parent.member > parent.from) parseUpTo(parent, parent.member - 1);
    }
    container.parsed = buildLong(container.isList);
    return container.parsed;
  };

  const slice = new WorkSlice();
  // The text is read as the inside of a list, which must have one item.
  let current = begin(null, 0, true);
  let nextPause = MOST_STEPS;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= nextPause) {
      nextPause = at + MOST_STEPS;
      if (slice.isOver) await slice.next();
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) {
      if (current.long !== null || at - current.from > MOST_STEPS) parseUpTo(current, at);
      current.member = at + 1;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT)
      current = begin(current, at + 1, code === OPEN_LIST);
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const { parent, isList, start } = current;
      if (parent === null) throw malformed();
      if (current.parsed !== null || at - current.from > MOST_STEPS) {
        parseUpTo(current, at, { isEnd: true });
        if (parent.long !== null || isList !== (code === CLOSE_LIST)) throw malformed();
        parent.long = { start: start - 1, end: at + 1, value: separate(current).finish() };
      }
      current = parent;
    }
  }
  parseUpTo(current, text.length, { isEnd: true });
  const documents = separate(current).finish();
  const [document, another] = Array.isArray(documents) ? documents : [];
  if (current.parent !== null || document === undefined || another !== undefined) throw malformed();
  return document;
}
