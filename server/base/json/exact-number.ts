/**
 * JSON numbers that a double cannot hold keep their digits in `readJson` and `writeJson`; other texts cost one
 * search (docs/decisions/0037-exact-numbers.md).
 */

// Process and pages have a copy of this module each (docs/architecture.md, "Two copies of server/").
const BRAND = Symbol.for("stepwell.exactNumber");
const ERROR_NAME = "ExactNumberError";

/**
 * A number as its digits. It is not a `number`, so that code that ignores it does not compile. JSON.stringify and
 * structuredClone throw.
 */
export class ExactNumber {
  readonly [BRAND] = true;
  readonly text: string;
  /** An own property: structuredClone throws on functions, and would drop a method. */
  readonly toJSON = rejectJson;

  constructor(text: string) {
    this.text = text;
    Object.freeze(this);
  }

  toString(): string {
    return this.text;
  }
}

function rejectJson(): never {
  const error = new Error("JSON.stringify cannot write an ExactNumber. Use writeJson.");
  error.name = ERROR_NAME;
  throw error;
}

/** Returns true if JSON.stringify threw because of an ExactNumber. */
export function isExactNumberError(error: unknown): boolean {
  return error instanceof Error && error.name === ERROR_NAME;
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "object" && value !== null && BRAND in value;
}

/** Returns true for an integer, also one that a double cannot hold. */
export const isWholeNumber = (value: unknown) =>
  isExactNumber(value) ? /^-?\d+$/.test(value.text) : Number.isInteger(value);

/** Marks digits in strings of intermediate texts. It is random and secret, so no other string begins with it. */
export const EXACT_MARK = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");
const MARKED = new RegExp(`"${EXACT_MARK}([^"]*)"`, "g");

/** Writes each number of a valid JSON text that a double cannot hold as a marked string. */
export const markExact = (text: string): string => replaceExact(text, (digits) => `"${EXACT_MARK}${digits}"`);

/** The JSON text with the digits of marked strings. */
export const unmarkExact = (text: string): string =>
  text.includes(EXACT_MARK) ? text.replace(MARKED, "$1") : text;

/** Writes each number of a valid JSON text that a double cannot hold as a string, for scripts and expressions. */
export const quoteExact = (text: string): string => replaceExact(text, (digits) => `"${digits}"`);

/** Takes the marks off what JSON.parse calls its reviver with. */
export function unmarkValue(value: unknown): unknown {
  const isMarked = typeof value === "string" && value.startsWith(EXACT_MARK);
  return isMarked ? new ExactNumber(value.slice(EXACT_MARK.length)) : value;
}

/** Matches every number beyond doubles: they have all numbers of up to 15 digits that are not extremely small. */
export const MAY_BE_EXACT = /[\d.]{16}|[eE]-0*[1-9]\d\d/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Most texts need only this quick check. */
function mayHaveExact(text: string): boolean {
  // Sixteen characters in a row include one of these.
  for (let at = 15; at < text.length; at += 16) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let first = at;
    while (isDigitOrPoint(text.charCodeAt(first - 1))) first -= 1;
    let last = at;
    while (last - first < 15 && isDigitOrPoint(text.charCodeAt(last + 1))) last += 1;
    if (last - first >= 15) return true;
  }
  for (const e of ["e-", "E-"]) {
    for (let at = text.indexOf(e, 1); at >= 0; at = text.indexOf(e, at + 1)) {
      SMALL_EXPONENT.lastIndex = at + 2;
      if (SMALL_EXPONENT.test(text)) return true;
    }
  }
  return false;
}

const SMALL_EXPONENT = /0*[1-9]\d\d/y;
const isDigitOrPoint = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2e;

function replaceExact(text: string, replace: (digits: string) => string): string {
  if (!mayHaveExact(text)) return text;
  let replaced = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
      NUMBER.lastIndex = at;
      const digits = NUMBER.exec(text)?.[0] ?? "-";
      if (!isDouble(digits)) {
        replaced += text.slice(from, at) + replace(digits);
        from = at + digits.length;
      }
      at += digits.length - 1;
    }
  }
  return from === 0 ? text : replaced + text.slice(from);
}

/** The index of the closing quote of the string that starts at `at`; the text's length if there is none. */
export function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

// Leaves infinite numbers for others to reject.
function isDouble(digits: string): boolean {
  if (!MAY_BE_EXACT.test(digits)) return true;
  const double = Number(digits);
  return !Number.isFinite(double) || normalize(digits) === normalize(String(double));
}

function normalize(digits: string): string {
  const [mantissa = "", exponent = "0"] = digits.toLowerCase().split("e");
  const [sign, unsigned] = mantissa.startsWith("-") ? ["-", mantissa.slice(1)] : ["", mantissa];
  const [whole = "", fraction = ""] = unsigned.split(".");
  const all = whole + fraction;
  let first = 0;
  while (all.charCodeAt(first) === 0x30) first += 1;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === 0x30) last -= 1;
  return first === last ? "0" : `${sign}${all.slice(first, last)}e${whole.length - first + Number(exponent)}`;
}
