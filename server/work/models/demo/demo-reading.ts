/** All patterns are bounded, so that hostile messages stay cheap. */

const ZONES = (
  "Europe/Amsterdam Europe/Berlin America/Chicago Europe/Istanbul Europe/Lisbon Europe/London Europe/Madrid " +
  "America/New_York Europe/Oslo Europe/Paris Europe/Rome Asia/Singapore Australia/Sydney Asia/Tokyo Europe/Vienna " +
  "Europe/Zurich"
).split(" ");
const OTHER_CITIES: [string, string][] = [
  ["delhi", "Asia/Kolkata"],
  ["mumbai", "Asia/Kolkata"],
  ["san francisco", "America/Los_Angeles"],
  ["são paulo", "America/Sao_Paulo"],
];
const cityOf = (zone: string) =>
  zone
    .slice(zone.indexOf("/") + 1)
    .replace("_", " ")
    .toLowerCase();

/** Reads a JSON object, as webhooks send it, as a list of its facts; other text is unchanged. */
export function readMessage(text: string): string {
  if (!text.trimStart().startsWith("{")) return text;
  const values = [...text.matchAll(/:\s{0,20}(?:"((?:[^"\\]|\\.){1,2000})"|(-?\d[\d.]{0,20}))/g)];
  const quoted = values.map((match) => (match[1] ?? match[2] ?? "").replace(/\\./g, " "));
  return quoted.length === 0 ? text : quoted.join(", ");
}

// Such as "A-1", "SKU123" or "inv-2024/7".
const CODES =
  /(?<![\p{L}\d@./_-])(?=[\p{L}_/.-]{1,40}\d)\p{L}[\p{L}\d]{0,40}(?:[-_/.][\p{L}\d]{1,20}){0,6}(?![\p{L}\d@])/gu;
const NUMBERED =
  /(?:#\s?|\b(?:order|ticket|invoice|parcel|case|account|customer|shipment|item|sku|id|number|no\.?) {1,3})((?=[\p{L}-]{0,20}\d)[\p{L}\d][\p{L}\d_/-]{0,40})/giu;

const URLS = /https?:\/\/\S+/g;
const NUMBER = "\\d{1,15}(?:\\.\\d{1,15})?";
const WORDED_OPERATORS: [RegExp, string][] = [
  [/(\d) {0,3}(?:times|multiplied by) {0,3}(?=\d)/gi, "$1 * "],
  [/(\d) {0,3}(?:divided by|over) {0,3}(?=\d)/gi, "$1 / "],
  [/(\d) {0,3}plus {0,3}(?=\d)/gi, "$1 + "],
  [/(\d) {0,3}minus {0,3}(?=\d)/gi, "$1 - "],
  [new RegExp(`(${NUMBER}) {0,3}(?:%|percent) {1,3}of {1,3}(${NUMBER})`, "gi"), "$1 / 100 * $2"],
];
const SUM = /[(\d][\d\s.()+*/×÷^%-]{1,200}[\d)%]/g;

const inSigns = (text: string) =>
  WORDED_OPERATORS.reduce((worded, [pattern, sign]) => worded.replace(pattern, sign), text);

function isSum(part: string): boolean {
  const balanced = (part.match(/\(/g) ?? []).length === (part.match(/\)/g) ?? []).length;
  return balanced && /\d\s*[+*/×÷^-]\s*[(\d]/.test(part) && !/^\d{4}-\d\d-\d\d/.test(part);
}

/** A calculation in a text: at least two numbers with an operator between. */
export function findArithmetic(text: string): string[] {
  const rest = text.replace(CODES, " ").replace(NUMBERED, " ");
  const found = (inSigns(rest).match(SUM) ?? []).map((part) => part.trim());
  return found.filter(isSum).slice(0, 3);
}

/** The identifier in a text, without a leading "#". */
export function findIdentifier(text: string): string | undefined {
  const rest = text.replace(URLS, " ");
  return rest.match(CODES)?.[0] ?? [...rest.matchAll(NUMBERED)][0]?.[1];
}

const NUMBERS = new RegExp(`(?<![\\p{L}\\d.])-?${NUMBER}`, "gu");

/** The numbers in a text, in order, without those of calculations, dates, times, addresses and identifiers. */
export function findNumbers(text: string): string[] {
  const rest = inSigns(text)
    .replace(URLS, " ")
    .replace(/\d{4}-\d\d-\d\d|\d{1,2}:\d\d/g, " ")
    .replace(CODES, " ")
    .replace(SUM, (part) => (isSum(part) ? " " : part));
  return rest.match(NUMBERS) ?? [];
}

/** The time zone that a text names directly or by a city. */
export function findZone(text: string): string | undefined {
  const named = /\b[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+\b/.exec(text)?.[0];
  if (named !== undefined) return named;
  const lower = text.toLowerCase();
  const zone = ZONES.find((each) => lower.includes(cityOf(each)));
  return zone ?? OTHER_CITIES.find(([city]) => lower.includes(city))?.[1];
}

const STOP_WORDS = new Set(
  (
    "a about all am an and any are as at be by buy can cost costs could dollar dollars do does each eur euro euros " +
    "find for from get give how i if in into is it me more much my need of off offer on one or order our out per " +
    "percent piece pieces please price prices priced quote she should so tell that the them then they this to total " +
    "units us usd want we what when where which who why will with would you your"
  ).split(" "),
);

const isLittle = (word: string) => STOP_WORDS.has(word.toLowerCase());

const COUNTED = new RegExp(
  `(?<![\\d.])${NUMBER} {0,3}(?:x|×|pieces of|units of)? {0,3}(\\p{L}[\\p{L}'-]{0,40}(?: \\p{L}[\\p{L}'-]{0,40}){0,2})`,
  "gu",
);

/** The counted thing in a text: "apples" in "12 apples at 0.80", "red apples" in "twelve or 12 red apples". */
export function findCounted(text: string): string | undefined {
  for (const [, phrase = ""] of text.matchAll(COUNTED)) {
    const words = phrase.split(" ");
    const end = words.findIndex(isLittle);
    const thing = words.slice(0, end === -1 ? words.length : end).join(" ");
    if (thing !== "") return thing;
  }
  return undefined;
}

const ORDERS = new RegExp(
  `(?<![\\d.])\\d{1,15} {0,3}[x×]? {0,3}(?:\\p{L}[\\p{L}'-]{0,40} ){1,3}(?:at|for|@|à) {0,3}[$€£]?${NUMBER}`,
  "gu",
);

/** The orders in a text, each with its own numbers: "12 apples at 0.80" and "3 pears at 1.20". */
export function findOrders(text: string): string[] {
  return text.match(ORDERS) ?? [];
}

export function findQuoted(text: string): string | undefined {
  return /["“«]([^"”»]{1,200})["”»]/.exec(text)?.[1];
}

/** A name in a text: quoted, after a preposition, or capitalized. */
export function findName(text: string): string | undefined {
  const quoted = findQuoted(text);
  if (quoted !== undefined) return quoted;
  const name = /\b(?:in|for|of|at|about|to|from)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*){0,3})/u.exec(
    text,
  );
  return name?.[1] ?? /(?<=[\p{L},]\s)\p{Lu}[\p{L}'-]+/u.exec(text)?.[0];
}

/** The key words of a text, for a field that takes a short text. */
export function findTopic(text: string): string | undefined {
  const words = (text.match(/\p{L}[\p{L}'-]{1,40}/gu) ?? []).filter((word) => !isLittle(word));
  return words.slice(0, 3).join(" ") || undefined;
}
