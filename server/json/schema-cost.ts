import type { Issue } from "@/server/errors";
import { isJsonObject, type Json, type JsonObject } from "./json";
import { keysOf } from "./large-parser";
import { jsonPointer } from "./text";

/** Limits of a JSON Schema; a larger one is refused when it is saved. */
export const SCHEMA_LIMITS = {
  /** Of its JSON text. */
  characters: 128 * 1024,
  depth: 64,
  subschemas: 2_000,
  /** Values of one `enum`. */
  enumValues: 2_000,
  /** Branches of one `anyOf`, `oneOf` or `allOf`. */
  branches: 100,
  /** Characters of one `pattern`. */
  patternLength: 1_000,
} as const;

/**
 * The upper bound of a schema's cost, in steps of some ten nanoseconds; a failing one takes some two hundred. `perNode`
 * counts for every nested value and every eight characters, `scans` counts patterns and formats. Null: no bound is
 * known.
 */
export type SchemaCost = { perNode: number; scans: number } | null;

const ANNOTATIONS = new Set(
  "$schema $comment $defs definitions title description default examples example deprecated readOnly writeOnly".split(
    " ",
  ),
);
const CHEAP = new Set(
  "type nullable minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);
const IN_PLACE = new Set(["allOf", "anyOf", "oneOf", "not"]);
const DESCENDING = new Set(["properties", "additionalProperties", "items", "prefixItems"]);
/** Formats whose check takes at most quadratic time. */
const BOUNDED_FORMATS = new Set("date date-time time uuid email ipv4 uri hostname".split(" "));
/** Keywords that contain schemas: one, a list or a map. */
const HOLDERS = new Set([
  ...IN_PLACE,
  ...DESCENDING,
  ..."$defs definitions patternProperties dependentSchemas if then else contains propertyNames unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
]);

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

/** The direct subschemas of a schema, each with its path. */
function* children(schema: JsonObject): Generator<[(string | number)[], Json]> {
  for (const [keyword, held] of Object.entries(schema)) {
    if (!HOLDERS.has(keyword)) continue;
    if (Array.isArray(held)) for (const [index, child] of held.entries()) yield [[keyword, index], child];
    else if (isMap(keyword) && isJsonObject(held)) {
      for (const [name, child] of Object.entries(held)) yield [[keyword, name], child];
    } else yield [[keyword], held];
  }
}

const isMap = (keyword: string) =>
  ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"].includes(keyword);

/** The first limit that a schema exceeds, with its path. */
export function findExcess(root: JsonObject): Issue | undefined {
  let count = 0;
  const open: { keys: (string | number)[]; schema: Json }[] = [{ keys: [], schema: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { keys, schema } = next;
    count += 1;
    if (count > SCHEMA_LIMITS.subschemas) {
      return { path: "", message: `has more than ${SCHEMA_LIMITS.subschemas} subschemas` };
    }
    if (!isJsonObject(schema)) continue;
    const excess = excessOf(schema);
    if (excess !== undefined) return { path: jsonPointer([...keys, excess.key]), message: excess.message };
    for (const [path, child] of children(schema)) open.push({ keys: [...keys, ...path], schema: child });
  }
  return undefined;
}

function excessOf(schema: JsonObject): { key: string; message: string } | undefined {
  const { enumValues, branches, patternLength } = SCHEMA_LIMITS;
  if (Array.isArray(schema.enum) && schema.enum.length > enumValues) {
    return { key: "enum", message: `has more than ${enumValues} values` };
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const held = schema[key];
    if (Array.isArray(held) && held.length > branches)
      return { key, message: `has more than ${branches} branches` };
  }
  const patterns = [
    schema.pattern,
    ...(isJsonObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []),
  ];
  if (patterns.some((pattern) => typeof pattern === "string" && pattern.length > patternLength)) {
    return { key: "pattern", message: `has more than ${patternLength} characters` };
  }
  return undefined;
}

/** Bounds the cost of a schema within the limits. Knows the common keywords; any other makes the cost unknown. */
export function boundCost(root: JsonObject): SchemaCost {
  return new CostBound(root).of(root);
}

class CostBound {
  readonly #root: JsonObject;
  readonly #known = new Map<string, SchemaCost>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /**
   * Schemas for the same value add up. Those for parts of it apply to disjoint parts, so that the most expensive one is
   * the bound.
   */
  of(schema: Json): SchemaCost {
    if (!isJsonObject(schema)) return { perNode: 1, scans: 0 };
    const total = { perNode: 1, scans: 0 };
    const deepest = { perNode: 0, scans: 0 };
    for (const [keyword, value] of Object.entries(schema)) {
      const own = this.#own(keyword, value, schema);
      if (own === null) return null;
      total.perNode += own.perNode;
      total.scans += own.scans;
    }
    for (const [[keyword], child] of children(schema)) {
      const inPlace = IN_PLACE.has(String(keyword));
      if (!inPlace && !DESCENDING.has(String(keyword))) continue;
      const cost = this.of(child);
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
  }

  /** The cost of a keyword without its subschemas. */
  #own(keyword: string, value: Json, schema: JsonObject): SchemaCost {
    const steps = (perNode: number): SchemaCost => ({ perNode, scans: 0 });
    if (ANNOTATIONS.has(keyword) || IN_PLACE.has(keyword)) return steps(0);
    if (CHEAP.has(keyword)) return steps(1);
    switch (keyword) {
      case "enum":
      case "const":
        return steps((Array.isArray(value) ? value.length : 1) + JSON.stringify(value).length / 4);
      case "required":
        return steps(Array.isArray(value) ? value.length : 1);
      case "properties":
        return steps(isJsonObject(value) ? Object.keys(value).length : 1);
      case "additionalProperties":
        return steps(
          isJsonObject(schema.properties) ? Math.min(8, Object.keys(schema.properties).length) : 1,
        );
      case "items":
      case "prefixItems":
        return steps(1);
      case "pattern":
        return typeof value === "string" && isBoundedPattern(value) ? { perNode: 1, scans: 1 } : null;
      case "format":
        return typeof value === "string" && BOUNDED_FORMATS.has(value) ? { perNode: 1, scans: 1 } : null;
      case "$ref":
        return typeof value === "string" ? this.#reference(value) : null;
      default:
        return null;
    }
  }

  /** A reference costs as much as its target; a circular one has no bound. */
  #reference(reference: string): SchemaCost {
    const known = this.#known.get(reference);
    if (known !== undefined) return known;
    this.#known.set(reference, null);
    const target = this.#resolve(reference);
    const cost = target === undefined ? null : this.of(target);
    this.#known.set(reference, cost);
    return cost;
  }

  #resolve(reference: string): Json | undefined {
    if (!/^#(?:\/[\w$-]+)*$/.test(reference)) return undefined;
    let at: Json | undefined = this.#root;
    for (const key of reference.split("/").slice(1)) {
      at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }
}

/** Longer strings are matched against patterns and formats in a thread. */
const MAX_SCANNED_LENGTH = 256;

/** Whether applying a schema of this cost to a value takes at most `steps`. Stops counting beyond that. */
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
    else if (Array.isArray(next)) {
      if (next.length * perNode > steps) return false;
      for (const item of next) open.push(item);
    } else if (next !== null && typeof next === "object") {
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
