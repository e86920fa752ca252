/**
 * The bytes of a text in which secrets can be searched, however they were encoded. `decoded`: escapes of JSON, programming
 * languages, HTML and URLs are decoded, and letters are small. `hex`, `base64`: only such digits, without what may
 * separate them, and a 0 for each other byte.
 */
export type Views = Record<ViewName, Buffer>;
export type ViewName = keyof typeof TABLES;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const CARRIAGE_RETURN = 0x0d;
const ZERO = 0x30;
const SMALL_X = 0x78;
const BARRIER = 0;
const DROPPED = 0xff;

/** The byte of each view for a decoded ASCII byte. */
const TABLES = {
  decoded: tableOf((sign) => (sign === "\r" ? null : sign === "+" ? " " : sign.toLowerCase())),
  hex: tableOf((sign) => {
    if (/[\da-f]/i.test(sign)) return sign.toLowerCase();
    return /[\s:;,._|%\\-]/.test(sign) ? null : undefined;
  }),
  base64: tableOf((sign) => {
    if (/[A-Za-z\d+/]/.test(sign)) return sign;
    if (sign === "-") return "+";
    return sign === "_" ? "/" : /[\s\\]/.test(sign) ? null : undefined;
  }),
};

/** `viewed` returns null for nothing, undefined for a barrier. */
function tableOf(viewed: (sign: string) => string | null | undefined): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => {
    const sign = viewed(String.fromCharCode(code));
    return sign === null ? DROPPED : (sign?.charCodeAt(0) ?? BARRIER);
  });
}

/** Takes time and memory in proportion to the text's length. */
export function viewsOf(text: string): Views {
  return { decoded: viewOf(text, "decoded"), hex: viewOf(text, "hex"), base64: viewOf(text, "base64") };
}

/** `places`: the start and end of what each byte stands for, in turn. */
export function viewOf(text: string, name: ViewName, places?: number[]): Buffer {
  const table = TABLES[name];
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(text));
  let length = 0;
  const add = (byte: number, start: number, end: number) => {
    const viewed = byte < 0x80 ? table[byte] : name === "decoded" ? byte : BARRIER;
    if (viewed === undefined || viewed === DROPPED) return;
    bytes[length] = viewed;
    length += 1;
    places?.push(start, end);
  };
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (isPlain(code)) {
      add(code, at, at + 1);
      at += 1;
      continue;
    }
    const { value, end, isByte } = readToken(text, at);
    // The 0 of `0x` is no digit.
    const isPrefix = value === ZERO && (text.charCodeAt(end) | 0x20) === SMALL_X;
    if (value >= 0x80 && !isByte)
      for (const byte of Buffer.from(String.fromCodePoint(value))) add(byte, at, end);
    else if (name !== "hex" || !isPrefix) add(value, at, end);
    at = name === "hex" && isPrefix ? end + 1 : end;
  }
  return bytes.subarray(0, length);
}

/** Most characters are. */
const isPlain = (code: number) =>
  code < 0x80 && code !== BACKSLASH && code !== PERCENT && code !== AMPERSAND && code !== ZERO;

/** `isByte`: the value is one byte of UTF-8, else a code point. */
type Token = { value: number; end: number; isByte: boolean };

const ENTITIES: Record<string, number> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const LETTERS: Record<string, number> = { n: 0x0a, r: CARRIAGE_RETURN, t: 0x09 };
const LAST_CODE_POINT = 0x10ffff;
// None can match a text in two ways, so that they take time in proportion to its length.
const BACKSLASHES = /\\+/y;
const ESCAPED = /u(?:\{0{0,5}([\da-f]{1,6})\}|([\da-f]{4}))|x([\da-f]{2})|([0-3][0-7]{2})|([nrt])/iy;
const LOW_SURROGATE = /\\{1,64}u(d[c-f][\da-f]{2})/iy;
const PERCENT_CODE = /%(?:25)*([\da-f]{2})/iy;
const ENTITY = /&(?:#(?:0{0,8}(\d{1,7})|x0{0,8}([\da-f]{1,6}))|(amp|lt|gt|quot|apos));/iy;

/** Reads one character, or the escape of one with all of its backslashes. */
function readToken(text: string, at: number): Token {
  if (text.charCodeAt(at) !== BACKSLASH) return readUnescaped(text, at);
  matchAt(BACKSLASHES, text, at);
  const first = BACKSLASHES.lastIndex;
  const found = matchAt(ESCAPED, text, first);
  if (found === null)
    return first < text.length ? readUnescaped(text, first) : { value: BACKSLASH, end: first, isByte: true };
  const [, braced, unit, hex, octal, letter = ""] = found;
  const end = ESCAPED.lastIndex;
  const byte = hex
    ? Number.parseInt(hex, 16)
    : octal
      ? Number.parseInt(octal, 8)
      : LETTERS[letter.toLowerCase()];
  if (byte !== undefined) return { value: byte, end, isByte: true };
  const point = Number.parseInt(braced ?? unit ?? "", 16);
  const low = point >= 0xd800 && point < 0xdc00 ? matchAt(LOW_SURROGATE, text, end) : null;
  if (low === null) return { value: Math.min(point, LAST_CODE_POINT), end, isByte: false };
  const pair = String.fromCharCode(point, Number.parseInt(low[1] ?? "", 16));
  return { value: pair.codePointAt(0) ?? 0, end: LOW_SURROGATE.lastIndex, isByte: false };
}

function readUnescaped(text: string, at: number): Token {
  const code = text.charCodeAt(at);
  if (code === PERCENT) {
    const byte = matchAt(PERCENT_CODE, text, at)?.[1];
    if (byte !== undefined)
      return { value: Number.parseInt(byte, 16), end: PERCENT_CODE.lastIndex, isByte: true };
  } else if (code === AMPERSAND) {
    const entity = matchAt(ENTITY, text, at);
    if (entity !== null) {
      const [, decimal, hex, name = ""] = entity;
      const point = Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10);
      const value = ENTITIES[name.toLowerCase()] ?? Math.min(point, LAST_CODE_POINT);
      return { value, end: ENTITY.lastIndex, isByte: false };
    }
  }
  const point = text.codePointAt(at) ?? 0;
  return { value: point, end: at + (point > 0xffff ? 2 : 1), isByte: false };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
