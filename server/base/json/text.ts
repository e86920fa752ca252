import { isContainer, isJsonObject, type Json, readJson, writeJson } from "./json";

/** The deepest accepted nesting; deeper documents break recursive code. */
export const MAX_JSON_DEPTH = 200;

export class JsonTextError extends Error {
  override name = "JsonTextError";
}

/** The text is JSON beyond a limit. */
export class JsonLimitError extends JsonTextError {}

export function isDeeper(text: string, limit: number): boolean {
  return findExcess(text, { depth: limit, values: Number.POSITIVE_INFINITY }) === "depth";
}

/** The limit that a JSON text exceeds, found before it is parsed. `values` counts members, items and containers. */
export function findExcess(
  text: string,
  limits: { depth: number; values: number },
): "depth" | "values" | null {
  let depth = 0;
  let values = 0;
  let inText = false;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (inText) {
      if (code === 0x5c) i += 1;
      else if (code === 0x22) inText = false;
    } else if (code === 0x22) inText = true;
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > limits.depth) return "depth";
      if (values > limits.values) return "values";
    } else if (code === 0x2c) {
      values += 1;
      if (values > limits.values) return "values";
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return null;
}

// An exponent from 100, or 200 digits: such a number would be stored as null. Matches from a first digit
// only, because trying each digit of a megabyte would take half a second.
const MAY_BE_INFINITE = /\d[eE]\+?0*[1-9]\d\d|(?<!\d)\d{200}/;

/**
 * Parses untrusted JSON. Throws JsonTextError if it is malformed, deeper than 200 levels, or has a number beyond
 * 1.8e308. Numbers that a double cannot hold are ExactNumber.
 */
export function parseJson(text: string): Json {
  if (isDeeper(text, MAX_JSON_DEPTH))
    throw new JsonLimitError(`The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  let value: Json;
  try {
    value = readJson(text);
  } catch (error) {
    throw new JsonTextError(error instanceof Error ? error.message : "The text is not JSON.");
  }
  requireFinite(text, value);
  return value;
}

/** Throws JsonLimitError if `value`, read from `text`, has a number beyond 1.8e308. */
export function requireFinite(text: string, value: Json): void {
  if (MAY_BE_INFINITE.test(text) && !isFiniteThroughout(value))
    throw new JsonLimitError("The JSON contains a number that is too large.");
}

function isFiniteThroughout(value: Json): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (!isContainer(value)) return true;
  return Object.values(value).every(isFiniteThroughout);
}

/** JSON text with sorted object keys: equal values give equal texts. */
export function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
    return `{${members.join(",")}}`;
  }
  return writeJson(value);
}

/** The JSON pointer (RFC 6901) for a path of keys; the whole document is "". */
export function jsonPointer(keys: readonly PropertyKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Reads a JSON pointer; keys that look like indexes become numbers. */
export function fromPointer(pointer: string): (string | number)[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((key) =>
      /^(0|[1-9]\d*)$/.test(key) ? Number(key) : key.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
}
