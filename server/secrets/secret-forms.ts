/** Longer secrets are matched in pieces, so that the patterns stay small enough for V8. */
const MAX_PIECE_LENGTH = 512;
/** Shorter pieces of base64 occur in ordinary text. */
const MIN_BASE64_LENGTH = 8;

/**
 * Patterns that match a secret wherever an answer echoes it: as it is, escaped in JSON or HTML, URL-encoded, in
 * hexadecimal, and in base64 or base64url, also within a longer encoded text such as that of `Basic` credentials.
 */
export function secretPatterns(secret: string): RegExp[] {
  return splitEvenly(secret).map((piece) => {
    const bytes = Buffer.from(piece);
    const forms = [inAnySpelling(piece), ...base64Forms(bytes), byteForm(bytes), unitForm(piece)];
    return new RegExp(forms.sort((a, b) => b.length - a.length).join("|"), "g");
  });
}

/** The text in parts of about the same length, without cutting a character in half. */
function splitEvenly(text: string): string[] {
  const characters = Array.from(text);
  const parts = Math.ceil(characters.length / MAX_PIECE_LENGTH);
  const size = Math.ceil(characters.length / parts);
  return Array.from({ length: parts }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** The pattern of a text whose characters, except letters and digits, may be escaped or encoded. */
function inAnySpelling(text: string): string {
  return Array.from(text, (character) =>
    /[A-Za-z0-9]/.test(character) ? character : `(?:${spellings(character).join("|")})`,
  ).join("");
}

/** How JSON, HTML, URLs and forms write a character. The number of backslashes is bounded to keep the search linear. */
function spellings(character: string): string[] {
  const percent = hexOf(Buffer.from(character)).map((byte) => `%(?:25)?${inAnyCase(byte)}`);
  const code = character.codePointAt(0) ?? 0;
  return [
    `\\\\{0,4}${escapePattern(character)}`,
    percent.join(""),
    unitForm(character),
    `&#0{0,4}${code};`,
    `&#[xX]0{0,4}${inAnyCase(code.toString(16))};`,
    ...(FURTHER_SPELLINGS[character] ?? []),
  ];
}

/** Spellings of their own; base64 is also written with `-` and `_`. */
const FURTHER_SPELLINGS: Record<string, string[]> = {
  " ": ["\\+"],
  "\n": ["\\\\{1,4}n", "\\r\\n", "\\\\{1,4}r\\\\{1,4}n"],
  "\r": ["\\\\{1,4}r"],
  "\t": ["\\\\{1,4}t"],
  "&": ["&amp;"],
  "<": ["&lt;"],
  ">": ["&gt;"],
  '"': ["&quot;"],
  "'": ["&apos;"],
};

/**
 * What stands in the base64 of any text that holds these bytes, whichever of the three places in a group they begin at.
 * The characters that also hold bits of their neighbours are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const own = text.slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
    if (own.length < MIN_BASE64_LENGTH) return [];
    const pattern = own.replace(/[+/]/g, (sign) => {
      const forUrls = sign === "+" ? "-" : "_";
      return `(?:${[forUrls, ...spellings(sign)].join("|")})`;
    });
    return [pattern];
  });
}

/** Each UTF-16 unit escaped as in JSON: `\u006b\u00e9`. */
function unitForm(text: string): string {
  const units = text.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\\\{1,4}u${inAnyCase(unit)}`).join("");
}

/** The bytes one by one: `6b6579`, `%6b%65%79`, `\x6b\x65\x79`, `\u006b\u0065\u0079`, `6b:65:79`. */
function byteForm(bytes: Buffer): string {
  return hexOf(bytes)
    .map((byte, index) => `(?:%|\\\\x|\\\\u00${index === 0 ? "" : "|[: -]"})?${inAnyCase(byte)}`)
    .join("");
}

const hexOf = (bytes: Buffer) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
const inAnyCase = (hex: string) => hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
