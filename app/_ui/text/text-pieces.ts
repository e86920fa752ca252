import { characterBoundary } from "./long-text";

/** Splits long texts into pieces that are drawn one at a time. */

/**
 * Splits a text after its line ends into pieces of at most `size` characters; a longer line is split between
 * characters.
 */
export function splitLines(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = from + size >= text.length ? text.length : cutBefore(text, from, from + size);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function cutBefore(text: string, from: number, most: number): number {
  const end = text.slice(from, most).lastIndexOf("\n") + 1;
  if (end > 0) return from + end;
  const boundary = characterBoundary(text, most);
  return boundary > from ? boundary : most;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DEFINITION = /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*\S.*(?:\n(?: {2,}|\t)\S.*)*/gm;
const REFERENCE = /\[([^\]\n]{1,200})\]/g;

/**
 * Splits Markdown into pieces of about `size` characters that can be drawn alone. Cuts between blocks if possible,
 * else repeats code fences and table heads. Each piece gets its link and footnote definitions.
 */
export function splitMarkdown(text: string, size: number): string[] {
  if (text.length <= size) return [text];
  const pieces = splitBlocks(text, size);
  const definitions = new Map(
    Array.from(text.matchAll(DEFINITION), ([match, label = ""]) => [label.toLowerCase(), match]),
  );
  if (definitions.size === 0) return pieces;
  return pieces.map((piece) => {
    const named = new Set(Array.from(piece.matchAll(REFERENCE), ([, label = ""]) => label.toLowerCase()));
    const missing = [...named].flatMap((label) => {
      const definition = definitions.get(label);
      return definition === undefined || piece.includes(definition) ? [] : [definition];
    });
    return missing.length === 0 ? piece : `${piece}\n\n${missing.join("\n\n")}`;
  });
}

function splitBlocks(text: string, size: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  let before = "";
  let between = 0;
  let fence: { line: string; mark: string } | null = null;
  let block: string[] = [];
  let isAfterBlank = true;
  const cut = (at: number, close: string, next: string) => {
    pieces.push(`${before}${text.slice(from, at)}${close}`);
    from = at;
    before = next;
  };
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at) + 1 || text.length;
    // The start of a very long line is enough to classify it.
    const line = text.slice(at, Math.min(end, at + size)).trimEnd();
    if (!fence && isAfterBlank && /^\S/.test(line)) between = at;
    if (end - from > size) {
      if (between > from) cut(between, "", "");
      else if (at > from && fence) cut(at, `${fence.mark}\n`, `${fence.line}\n`);
      else if (at > from) cut(at, "", headOf(block));
      while (end - from > size) {
        const [open, close] = fence ? [`${fence.line}\n`, `\n${fence.mark}\n`] : ["", ""];
        cut(cutBefore(text, from, from + size), close, open);
      }
    }
    const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
    if (fence) {
      if (mark.startsWith(fence.mark) && info === "") fence = null;
    } else if (mark !== "" && !(mark.startsWith("`") && info.includes("`"))) fence = { line, mark };
    isAfterBlank = line === "";
    if (isAfterBlank) block = [];
    else if (block.length < 2) block.push(line);
    at = end;
  }
  if (from < text.length) cut(text.length, "", "");
  return pieces;
}

/** Without its head, a table's rows are not a table. */
function headOf([head = "", rule = ""]: string[]): string {
  return head.includes("|") && TABLE_RULE.test(rule) ? `${head}\n${rule}\n` : "";
}
