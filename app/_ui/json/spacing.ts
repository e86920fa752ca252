const MARK_OR_WORD = /[{}[\],:]|[^\s"{}[\],:]+/y;
const SPACE = /\s*/y;

/**
 * Keeps strings, numbers and order as they are. Accepts the start of a document. Other text gives undefined output,
 * but never throws.
 */
function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  for (const token of tokensOf(text)) {
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    const opened = before === "{" || before === "[";
    // `[]` and `{}` stay on one line.
    if (before === "," || (opened && !closes) || (closes && !opened)) {
      parts.push("\n", "  ".repeat(Math.max(0, depth)));
    } else if (before === ":") parts.push(" ");
    parts.push(token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return parts.join("");
}

/** Removes whitespace between JSON tokens without changing strings or numbers. */
export function compactJson(text: string): string {
  return [...tokensOf(text)].join("");
}

function* tokensOf(text: string): Generator<string> {
  let at = 0;
  while (true) {
    SPACE.lastIndex = at;
    SPACE.exec(text);
    const from = SPACE.lastIndex;
    if (from >= text.length) return;
    at = text[from] === '"' ? endOfString(text, from) : endOfOther(text, from);
    yield text.slice(from, at);
  }
}

/** A regular expression overflows its stack in a string of several megabytes. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return Math.min(text.length, at + 1);
}

function endOfOther(text: string, from: number): number {
  MARK_OR_WORD.lastIndex = from;
  MARK_OR_WORD.exec(text);
  return MARK_OR_WORD.lastIndex;
}

/**
 * A text to read and compare by lines: indents JSON, decodes a JSON string, keeps other text. `cut`: only the start
 * of a longer text.
 */
export function readableText(text: string, cut = false): string {
  if (cut) return /^\s*[{[]\s*(?:["{[\]}]|$)/.test(text) ? indentJson(text) : text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return typeof value === "string" ? value : indentJson(text);
}
