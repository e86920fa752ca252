/**
 * Letters that are the same one beyond what `toLowerCase` and `toUpperCase` tell: several small letters of one capital
 * (final sigma), signs that are letters (kelvin), and the Turkish i with and without its dot, which people type as they can.
 */
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
/** What `İ` leaves behind it when it is made small. */
const DOT_ABOVE = "\u0307";

/**
 * A regular expression that finds a text as it is, whatever the case of its letters, and whether accents are parts of
 * their letters or signs of their own. Its source is one for JavaScript with the flag `u`, and for PostgreSQL's `~`, which
 * thus needs to know nothing of letters: databases with the locale C know those of ASCII alone. `ß` is not `ss`.
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
