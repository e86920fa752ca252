import { endOfString } from "@/server/base/json/exact-number";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped.
const CONTROL = /[\0-\x1f]/g;

/**
 * Escapes control characters in the strings of a JSON text, such as the line ends that models leave there. JSON allows
 * none, so the text has no other meaning (misospace/pr-reviewer-action#449).
 */
export function escapeControls(text: string): string {
  const escaped = (character: string) => JSON.stringify(character).slice(1, -1);
  let whole = "";
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', from)) {
    const end = endOfString(text, at) + 1;
    whole += text.slice(from, at) + text.slice(at, end).replace(CONTROL, escaped);
    from = end;
  }
  return whole + text.slice(from);
}
