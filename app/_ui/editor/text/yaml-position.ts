import type { Path, Position } from "./position";

type Level = { column: number; at: string | number; keys: string[] };

const KEY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"{}[\],&*!|>%@`-][^:#]*?|-[^\s:][^:]*?)\s*:(?=\s|$)/;
const BLOCK_TEXT = /^[|>][+-]?\d?[+-]?\s*(?:#.*)?$/;

/** The position in a YAML text, which may be unfinished; null within comments. Flow style is not looked into. */
export function positionInYaml(text: string, offset: number): Position | null {
  const lines = text.split("\n");
  const levels: Level[] = [];
  let textOf: number | null = null;
  let start = 0;
  for (const [number, line] of lines.entries()) {
    const isLast = offset <= start + line.length;
    const indent = line.search(/\S|$/);
    if (textOf !== null && (line.trim() === "" || indent > textOf)) {
      if (isLast) return inside(levels, offset);
    } else if (isLast) {
      return positionInLine({ line, start, cursor: offset - start, below: lines.slice(number + 1) }, levels);
    } else if (line.trim() !== "" && line[indent] !== "#") {
      textOf = null;
      const { column, rest } = readItems(line, indent, levels);
      const key = KEY.exec(rest);
      if (key) {
        pushKey(levels, column, unquote(key[1] ?? ""));
        if (BLOCK_TEXT.test(rest.slice(key[0].length).trim())) textOf = column;
      }
    }
    start += line.length + 1;
  }
  return null;
}

const inside = (levels: readonly Level[], at: number): Position => ({
  kind: "inside",
  path: pathOf(levels),
  from: at,
  to: at,
  keys: [],
});

type Line = { line: string; start: number; cursor: number; below: readonly string[] };

function positionInLine({ line, start, cursor, below }: Line, levels: Level[]): Position | null {
  const indent = line.trim() === "" ? cursor : line.search(/\S|$/);
  if (/(^|\s)#/.test(line.slice(0, cursor))) return null;
  const { column, rest } = readItems(line, indent, levels);
  if (cursor < column) return null;
  const key = KEY.exec(rest);
  const valueAt = key === null ? null : column + key[0].length;
  if (key !== null && valueAt !== null && cursor > valueAt) {
    pushKey(levels, column, unquote(key[1] ?? ""));
    const from = valueAt + (/^\s*/.exec(line.slice(valueAt))?.[0].length ?? 0);
    if (/[[{]/.test(line[from] ?? "")) return inside(levels, start + cursor);
    return {
      kind: "value",
      path: pathOf(levels),
      from: start + Math.min(from, cursor),
      to: start + Math.max(cursor, line.trimEnd().length),
      keys: [],
    };
  }
  if (!/^[\w-]*$/.test(line.slice(column, cursor))) return null;
  const known = leave(levels, column)?.keys ?? [];
  const end = column + (/^[\w-]*/.exec(rest)?.[0].length ?? 0);
  const later = keysBelow(below, column);
  return {
    kind: "key",
    path: pathOf(levels),
    from: start + column,
    to: start + Math.max(end, cursor),
    keys: [...known, ...later],
  };
}

function readItems(line: string, indent: number, levels: Level[]): { column: number; rest: string } {
  let column = indent;
  let rest = line.slice(column);
  for (let dash = /^-(\s+|$)/.exec(rest); dash; dash = /^-(\s+|$)/.exec(rest)) {
    let index = 0;
    for (let top = levels.at(-1); top && top.column >= column; top = levels.at(-1)) {
      // A list may begin in the column of its key.
      if (top.column === column && typeof top.at === "string") break;
      levels.pop();
      if (top.column === column && typeof top.at === "number") index = top.at + 1;
    }
    levels.push({ column, at: index, keys: [] });
    column += dash[0].length;
    rest = line.slice(column);
  }
  return { column, rest };
}

function leave(levels: Level[], column: number): Level | undefined {
  let before: Level | undefined;
  for (let top = levels.at(-1); top && top.column >= column; top = levels.at(-1)) {
    levels.pop();
    if (top.column === column && typeof top.at === "string") before = top;
  }
  return before;
}

function pushKey(levels: Level[], column: number, key: string): void {
  const before = leave(levels, column);
  levels.push({ column, at: key, keys: [...(before?.keys ?? []), key] });
}

function keysBelow(lines: readonly string[], column: number): string[] {
  const keys: string[] = [];
  for (const line of lines) {
    const indent = line.search(/\S|$/);
    if (line.trim() === "" || indent > column) continue;
    if (indent < column) break;
    const key = KEY.exec(line.slice(indent));
    if (key) keys.push(unquote(key[1] ?? ""));
    else break;
  }
  return keys;
}

const pathOf = (levels: readonly Level[]): Path => levels.map(({ at }) => at);

const unquote = (key: string) => key.replace(/^(["'])(.*)\1$/, "$2");
