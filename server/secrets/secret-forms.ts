/** Longer secrets are matched in pieces, so that the patterns stay small enough for V8. */
const MAX_PIECE_LENGTH = 512;
/** Shorter pieces of base64 occur in ordinary text. */
const MIN_BASE64_LENGTH = 8;

/**
 * Patterns that match a secret wherever an answer echoes it: as it is, escaped in JSON or HTML, URL-encoded, in
 * hexadecimal, and in base64 or base64url, also within a longer encoded text such as that of `Basic` credentials or of a
 * request's body, and in small letters, as addresses have their hosts.
 */
export function secretPatterns(secret: string): RegExp[] {
  const pieces = splitEvenly(secret.toWellFormed());
  return pieces.map((piece) => {
    const inJson = JSON.stringify(piece).slice(1, -1);
    const inForm = new URLSearchParams([["", piece]]).toString().slice(1);
    // Long secrets are seldom escaped in what is encoded, and each form makes the search slower.
    const encoded = new Set(pieces.length > 1 ? [piece] : [piece, inJson, inForm]);
    const forms = [
      inAnySpelling(piece),
      escapePattern(piece.toLowerCase()),
      ...[...encoded].flatMap(base64Forms),
      byteForm(Buffer.from(piece)),
      unitForm(piece),
      Array.from(piece, entityForm).join(""),
    ];
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
  return [
    `\\\\{0,8}${escapePattern(character)}`,
    percent.join(""),
    unitForm(character),
    entityForm(character),
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

/** Base64 in lines breaks them between groups of four characters. */
const LINE_BREAK = "[\\r\\n]*";

/**
 * What stands in the base64 of any text that holds this one, whichever of the three places in a group it begins at.
 * The characters that also hold bits of their neighbours are left out.
 */
function base64Forms(held: string): string[] {
  const bytes = Buffer.from(held);
  return [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = Math.ceil((8 * offset) / 6);
    const own = text.slice(start, Math.floor(bits / 6));
    if (own.length < MIN_BASE64_LENGTH) return [];
    const signs = Array.from(own, (sign, index) => {
      const before = index > 0 && (start + index) % 4 === 0 ? LINE_BREAK : "";
      if (sign !== "+" && sign !== "/") return before + sign;
      return `${before}(?:${[sign === "+" ? "-" : "_", ...spellings(sign)].join("|")})`;
    });
    return [signs.join("")];
  });
}

/** Each UTF-16 unit escaped as in JSON: `\u006b\u00e9`. */
function unitForm(text: string): string {
  const units = text.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\\\{1,4}u${inAnyCase(unit)}`).join("");
}

/** A character as HTML's number: `&#107;`, `&#x6b;`. */
function entityForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `&#(?:0{0,4}${code}|[xX]0{0,4}${inAnyCase(code.toString(16))});`;
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
