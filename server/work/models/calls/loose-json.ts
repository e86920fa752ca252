import { endOfString } from "@/server/base/json/exact-number";

// Each repetition can end at one place only: otherwise an answer of line ends takes minutes.
const FENCED = /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)```\s*$/;

/** The text between the fences of an answer that consists of one fenced block; undefined for any other. */
export const readFenced = (answer: string): string | undefined => FENCED.exec(answer)?.[1];

/**
 * Repairs texts in single quotes and commas before a closing bracket, which models write like Python's literals. Null if
 * the end of such a text is not clear: an apostrophe in it looks the same. The result may still have other flaws.
 */
export function repairLooseJson(text: string): string | null {
  let repaired = "";
  let before = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfString(text, at);
      repaired += text.slice(at, end + 1);
      at = end;
    } else if (character === "'") {
      const end = endOfQuoted(text, at);
      if (end === null || !/^[{[,:]?$/.test(before)) return null;
      repaired += `"${text.slice(at + 1, end).replace(/\\[\s\S]|"/g, inDoubleQuotes)}"`;
      at = end;
    } else if (character === "," && /[}\]]/.test(nextAfter(text, at))) {
      if (/[{[,:]/.test(before)) return null;
    } else repaired += character;
    if (character.trim() !== "") before = character;
  }
  return repaired;
}

/** Null if no name or value can end there. */
function endOfQuoted(text: string, start: number): number | null {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "'") return /[:,}\]]/.test(nextAfter(text, at)) ? at : null;
  }
  return null;
}

function nextAfter(text: string, at: number): string {
  let next = at + 1;
  while (/\s/.test(text.charAt(next))) next += 1;
  return text.charAt(next);
}

const inDoubleQuotes = (found: string) => (found === '"' ? '\\"' : found === "\\'" ? "'" : found);
