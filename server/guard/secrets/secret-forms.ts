const MAX_PIECE_LENGTH = 200;
// V8 does not optimize the search for longer patterns.
const MAX_PATTERN_LENGTH = 20_000;
// Shorter pieces of base64 occur in ordinary text.
const MIN_BASE64_LENGTH = 8;

/**
 * Patterns that match a secret in the forms in which an answer may echo it: plain, lower case, escaped in JSON,
 * HTML or a programming language, URL-encoded, hexadecimal, base64 and base64url, also inside a longer encoded
 * text, such as `Basic` credentials.
 */
export function secretPatterns(secret: string): RegExp[] {
  const characters = Array.from(secret.toWellFormed());
  let count = Math.ceil(characters.length / MAX_PIECE_LENGTH);
  let patterns: string[];
  do {
    patterns = splitEvenly(characters, count).map((piece) => patternOf(piece, count === 1));
    count *= 2;
  } while (patterns.some((pattern) => pattern.length > MAX_PATTERN_LENGTH));
  return patterns.map((pattern) => new RegExp(pattern, "g"));
}

function patternOf(piece: string, isWhole: boolean): string {
  const inJson = JSON.stringify(piece).slice(1, -1);
  const inForm = new URLSearchParams([["", piece]]).toString().slice(1);
  const lineBreak = isWhole ? ENCODED_LINE_BREAK : LINE_BREAK;
  // Encoded texts seldom escape long secrets, and each form makes the search slower.
  const encoded = new Set(isWhole ? [piece, inJson, inForm] : [piece]);
  const forms = [
    inAnySpelling(piece),
    ...[...encoded].flatMap((text) => base64Forms(Buffer.from(text), lineBreak)),
    byteForm(Buffer.from(piece)),
    Array.from(piece, isWhole ? escapeForm : unitForm).join(""),
    Array.from(piece, entityForm).join(""),
  ];
  return forms.sort((a, b) => b.length - a.length).join("|");
}

function splitEvenly(characters: readonly string[], count: number): string[] {
  const size = Math.ceil(characters.length / count);
  const pieces = Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
  return pieces.filter((piece) => piece !== "");
}

function inAnySpelling(text: string): string {
  return Array.from(text, (character) =>
    /[A-Za-z0-9]/.test(character) ? letter(character) : `(?:${spellings(character).join("|")})`,
  ).join("");
}

function letter(character: string): string {
  const cases = new Set([character.toLowerCase(), character.toUpperCase()]);
  return cases.size === 1 ? character : `[${[...cases].join("")}]`;
}

// The number of backslashes is bounded to keep the search linear.
function spellings(character: string): string[] {
  const percent = hexOf(Buffer.from(character)).map((byte) => `%(?:25)?${inAnyCase(byte)}`);
  return [
    `\\\\{0,8}${escapePattern(character)}`,
    percent.join(""),
    escapeForm(character),
    entityForm(character),
    ...(FURTHER_SPELLINGS[character] ?? []),
  ];
}

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

// Breaks base64 between groups of four characters. Bounded to keep the search linear.
const LINE_BREAK = "(?:\\s|\\\\{1,8}[rnt]){0,4}\\s{0,20}";
// Breaks in addresses are encoded. Patterns of long secrets leave this out, to stay short.
const ENCODED_LINE_BREAK = "(?:\\s|\\\\{1,8}[rnt]|%(?:25)?0[AaDd]){0,4}\\s{0,20}";

// The common part of the base64 of every text that contains this one, at the three offsets of a base64 group.
// Characters that also hold bits of their neighbors are left out.
function base64Forms(bytes: Buffer, lineBreak: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bits = 8 * (offset + bytes.length);
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const start = Math.ceil((8 * offset) / 6);
    const unshared = text.slice(start, Math.floor(bits / 6));
    if (unshared.length < MIN_BASE64_LENGTH) return [];
    const signs = Array.from(unshared, (sign, index) => {
      const before = index > 0 && (start + index) % 4 === 0 ? lineBreak : "";
      if (sign !== "+" && sign !== "/") return before + sign;
      return `${before}(?:${[sign === "+" ? "-" : "_", ...spellings(sign)].join("|")})`;
    });
    return [signs.join("")];
  });
}

const BACKSLASHES = "\\\\{1,4}";

function escapeForm(character: string): string {
  const bytes = Buffer.from(character);
  const code = character.codePointAt(0)?.toString(16) ?? "";
  const forms = [
    unitsOf(character),
    [`u\\{0{0,5}${inAnyCase(code)}\\}`],
    hexOf(bytes).map((byte) => `x${inAnyCase(byte)}`),
    Array.from(bytes, (byte) => byte.toString(8).padStart(3, "0")),
  ];
  return `${BACKSLASHES}(?:${forms.map((parts) => parts.join(BACKSLASHES)).join("|")})`;
}

const unitForm = (character: string) => BACKSLASHES + unitsOf(character).join(BACKSLASHES);

function unitsOf(character: string): string[] {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `u${inAnyCase(unit)}`);
}

function entityForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `&#(?:0{0,4}${code}|[xX]0{0,4}${inAnyCase(code.toString(16))});`;
}

// `6b6579`, `%6b%65%79`, `6b:65:79`, `0x6b, 0x65, 0x79`; also in indented lines.
function byteForm(bytes: Buffer): string {
  return hexOf(bytes).map(inAnyCase).join(BETWEEN_BYTES);
}

// Bounded to keep the search linear.
const BETWEEN_BYTES = "(?:[\\s:;,._|%-]|0[xX]|%(?:25)?0[AaDd]|\\\\{1,8}(?:[\\snrtx]|u00)){0,24}";

const hexOf = (bytes: Buffer) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
const inAnyCase = (hex: string) => hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
