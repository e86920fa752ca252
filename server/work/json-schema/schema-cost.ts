import { isExactNumber } from "@/server/base/json/exact-number";
import { isJsonObject, type Json, type JsonObject, writeJson } from "@/server/base/json/json";
import { keysOf } from "@/server/base/json/large-parser";
import { subschemasOf } from "./schema-keywords";

/**
 * The upper bound of a schema's cost, in steps of some ten nanoseconds; a failing one takes some two hundred. `perNode`
 * counts for every nested value and every eight characters, `scans` counts patterns and formats. Null: no bound is
 * known.
 */
export type SchemaCost = { perNode: number; scans: number } | null;

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const ANNOTATIONS = words(
  "$schema $comment $defs definitions title description default examples example deprecated readOnly writeOnly",
);
/** Keywords that take one step. */
const CHEAP = words(
  "type nullable minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems " +
    "minProperties maxProperties items prefixItems",
);
const IN_PLACE = words("allOf anyOf oneOf not");
const DESCENDING = words("properties additionalProperties items prefixItems");
/** Formats whose check takes at most quadratic time. */
const BOUNDED_FORMATS = words("date date-time time uuid email ipv4 uri hostname");
/**
 * Matches patterns of plain characters, classes and escapes without groups; anchored, with at most two unbounded
 * repetitions.
 */
const PLAIN_PATTERN =
  /^\^(?:(?:[\w\s@:,;/#"'=~!%&<>-]|\\[dDwWsS.\-/^$*+?()[\]{}|\\]|\[\^?(?:[^\][\\]|\\[dDwWsS.\-/^$*+?()[\]{}|\\])+\]|\.)(?:[*+?]|\{\d{1,2}(?:,\d{0,2})?\})?)*\$?$/;
const VARIABLE_REPEAT = /(?<!\\)(?:[*+?]|\{\d+,\d*\})/g;

function isBoundedPattern(pattern: string): boolean {
  return PLAIN_PATTERN.test(pattern) && (pattern.match(VARIABLE_REPEAT)?.length ?? 0) <= 2;
}

/** Bounds the cost of a schema within the limits. Knows the common keywords; any other makes the cost unknown. */
export function boundCost(root: JsonObject): SchemaCost {
  const known = new Map<string, SchemaCost>();

  /** A reference costs as much as its target; a circular one has no bound. */
  const ofReference = (reference: string): SchemaCost => {
    const before = known.get(reference);
    if (before !== undefined) return before;
    known.set(reference, null);
    const target = resolve(root, reference);
    const cost = target === undefined ? null : costOf(target);
    known.set(reference, cost);
    return cost;
  };

  /** Schemas for the same value add up. Of those for its disjoint parts, the most expensive one is the bound. */
  const costOf = (schema: Json): SchemaCost => {
    if (!isJsonObject(schema)) return { perNode: 1, scans: 0 };
    const total = { perNode: 1, scans: 0 };
    const deepest = { perNode: 0, scans: 0 };
    for (const [keyword, value] of Object.entries(schema)) {
      const isReference = keyword === "$ref" && typeof value === "string";
      const own = isReference ? ofReference(value) : costOfKeyword(keyword, value, schema);
      if (own === null) return null;
      total.perNode += own.perNode;
      total.scans += own.scans;
    }
    for (const [[keyword], child] of subschemasOf(schema)) {
      const inPlace = IN_PLACE.has(String(keyword));
      if (!inPlace && !DESCENDING.has(String(keyword))) continue;
      const cost = costOf(child);
      if (cost === null) return null;
      if (inPlace) {
        total.perNode += cost.perNode + 1;
        total.scans += cost.scans;
      } else {
        deepest.perNode = Math.max(deepest.perNode, cost.perNode);
        deepest.scans = Math.max(deepest.scans, cost.scans);
      }
    }
    return { perNode: total.perNode + deepest.perNode, scans: total.scans + deepest.scans };
  };
  return costOf(root);
}

/** The cost of a keyword without its subschemas. */
function costOfKeyword(keyword: string, value: Json, schema: JsonObject): SchemaCost {
  const steps = (perNode: number): SchemaCost => ({ perNode, scans: 0 });
  const scan = (isBounded: boolean): SchemaCost => (isBounded ? { perNode: 1, scans: 1 } : null);
  if (ANNOTATIONS.has(keyword) || IN_PLACE.has(keyword)) return steps(0);
  if (CHEAP.has(keyword)) return steps(1);
  const named = () => (isJsonObject(schema.properties) ? Object.keys(schema.properties).length : 1);
  switch (keyword) {
    case "enum":
    case "const":
      return steps((Array.isArray(value) ? value.length : 1) + writeJson(value).length / 4);
    case "required":
      return steps(Array.isArray(value) ? value.length : 1);
    case "properties":
      return steps(named());
    case "additionalProperties":
      return steps(Math.min(8, named()));
    case "pattern":
      return scan(typeof value === "string" && isBoundedPattern(value));
    case "format":
      return scan(typeof value === "string" && BOUNDED_FORMATS.has(value));
    default:
      return null;
  }
}

function resolve(root: Json, reference: string): Json | undefined {
  if (!/^#(?:\/[\w$-]+)*$/.test(reference)) return undefined;
  let at: Json | undefined = root;
  for (const key of reference.split("/").slice(1)) {
    at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** Longer strings are matched against patterns and formats in a thread. */
const MAX_SCANNED_LENGTH = 256;

/**
 * Returns true if applying a schema of this cost to a value takes at most `steps`. Stops counting beyond that. Numbers
 * that a double cannot hold are compared in a thread.
 */
export function isWithin(cost: SchemaCost, value: Json, steps: number): boolean {
  if (cost === null) return false;
  const { perNode, scans } = cost;
  let spent = 0;
  const open: Json[] = [value];
  const countText = (text: string) => {
    spent += (perNode * text.length) / 8;
    if (scans === 0) return;
    spent += text.length > MAX_SCANNED_LENGTH ? steps : scans * (text.length / 8) ** 2;
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    spent += perNode;
    if (typeof next === "string") countText(next);
    else if (isExactNumber(next)) return false;
    else if (Array.isArray(next)) {
      if (next.length * perNode > steps) return false;
      for (const item of next) open.push(item);
    } else if (isJsonObject(next)) {
      const keys = keysOf(next);
      if (keys.length * perNode > steps) return false;
      for (const key of keys) {
        spent += (perNode * key.length) / 8;
        if (spent + open.length * perNode > steps) return false;
        const member = next[key];
        if (member !== undefined) open.push(member);
      }
    }
    if (spent > steps) return false;
  }
  return true;
}
