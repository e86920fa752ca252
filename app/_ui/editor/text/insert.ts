import { positionInJson } from "./json-position";

/** A change of a text; `cursor` is an offset in the new text. */
type Insertion = { from: number; to: number; insert: string; cursor: number };

type Selection = { from: number; to: number };

const PLACEHOLDER = /^\s*(?:""|null|\{\s*\}|\[\s*\])?\s*$/;
const NUMBER_OR_WORD = /^\s*(?:-?\d[\d.eE+-]*|true|false)\s*$/;

/**
 * Inserts a reference such as `{{ steps.a }}` so that the JSON stays valid: instead of a placeholder or number, in
 * quotes as a member, or as it is within a string or plain text.
 */
export function insertIntoJson(text: string, { from, to }: Selection, reference: string): Insertion {
  const put = (range: Selection, before: string, after = ""): Insertion => ({
    ...range,
    insert: before + reference + after,
    cursor: range.from + before.length + reference.length,
  });
  const all = { from: 0, to: text.length };
  const isInside = from > 0 && from < text.trimEnd().length && /[[{]/.test(text);
  if ((PLACEHOLDER.test(text) && !isInside) || NUMBER_OR_WORD.test(text)) return put(all, "");
  if (from === 0 && to === text.length) return put(all, "");
  // A text with references or words is not JSON.
  if (!/^\s*(?:\{(?!\{)|\[|")/.test(text)) return put({ from, to }, "");
  const string = stringAt(text, { from, to });
  if (string !== null) return put(string, "");
  const position = positionInJson(text, from);
  const isAtTop = position === null || position.path.length === 0;
  if (position?.kind === "key" && position.from === position.to)
    return put({ from, to }, `${keyOf(reference)}: "`, '"');
  if (position?.kind === "value" && !isAtTop) return put(position, '"', '"');
  return atEnd(text, put, reference);
}

function stringAt(text: string, { from, to }: Selection): Selection | null {
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\\n]|\\.)*"?/g)) {
    const end = index + token.length;
    if (from > index && to < end) return { from, to };
    if (token.trim() !== text.trim()) continue;
    const at = from <= index ? index + 1 : end - 1;
    return { from: at, to: at };
  }
  return null;
}

type Put = (range: Selection, before: string, after?: string) => Insertion;

function atEnd(text: string, put: Put, reference: string): Insertion {
  const last = text.trimEnd().length - 1;
  const isList = text[last] === "]";
  if (!isList && text[last] !== "}") return put({ from: text.length, to: text.length }, '"', '"');
  const at = text.slice(0, last).trimEnd().length;
  const comma = /[[{]$/.test(text.slice(0, at)) ? "" : ", ";
  return put({ from: at, to: at }, `${comma}${isList ? "" : `${keyOf(reference)}: `}"`, '"');
}

const keyOf = (reference: string) => JSON.stringify(/(\w+)`?\s*\}\}$/.exec(reference)?.[1] ?? "value");

/** Returns true if an invalid JSON text was meant as JSON, such as `["a"` or `{{ a }}""`. */
export function resemblesJson(text: string): boolean {
  if (/^\s*(?:\{(?!\{)|\[|")/.test(text)) return true;
  const rest = text.replace(/\{\{.*?\}\}/gs, "").trim();
  return rest !== text.trim() && /^(?:".*"|null|\{.*\}|\[.*\])$/s.test(rest);
}
