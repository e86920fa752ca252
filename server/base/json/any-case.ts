/** `toLowerCase` and `toUpperCase` do not equate these. */
const SAME_LETTERS = [
  "iIİı",
  "sSſ",
  "kK\u212a",
  "åÅ\u212b",
  "ßẞ",
  "ṡṠẛ",
  "ǆǅǄ",
  "ǉǈǇ",
  "ǌǋǊ",
  "ǳǲǱ",
  "μΜ\u00b5",
  "βΒϐ",
  "εΕϵ",
  "θΘϑϴ",
  "κΚϰ",
  "πΠϖ",
  "ρΡϱ",
  "σΣς",
  "φΦϕ",
  "ωΩ\u2126",
];
// The rest of `İ` in lower case.
const DOT_ABOVE = "\u0307";

/**
 * Matches a text regardless of case and of how accents are composed, in JavaScript with the flag `u` and with
 * PostgreSQL's `~`, also with the locale C. `ß` does not match `ss`.
 */
export function anyCase(text: string): string {
  const spellings = new Set([text, text.normalize("NFC"), text.normalize("NFD")]);
  return [...spellings].map(patternOf).join("|");
}

function patternOf(text: string): string {
  const letters = text.replaceAll(`i${DOT_ABOVE}`, "i").replaceAll(`I${DOT_ABOVE}`, "I");
  return Array.from(letters, (letter) => {
    const same = sameAs(letter);
    if (same.length > 1) return `[${same.join("")}]${same.includes("i") ? `${DOT_ABOVE}?` : ""}`;
    return letter.replace(/[\\^$.*+?()[\]{}|]/, "\\$&");
  }).join("");
}

function sameAs(letter: string): string[] {
  const known = SAME_LETTERS.find((letters) => letters.includes(letter));
  if (known !== undefined) return [...known];
  const small = letter.toLowerCase();
  // Some have a capital of several letters (`ß`, `ŉ`), which is another text.
  return [...new Set([letter, small, letter.toUpperCase(), small.toUpperCase()])].filter(
    (each) => [...each].length === 1,
  );
}
