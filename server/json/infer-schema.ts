import { isJsonObject, type Json, type JsonObject } from "./json";
import { keysOf } from "./large-parser";

const MAX_INFERRED_DEPTH = 12;
const MAX_INFERRED_KEYS = 200;
const MAX_INFERRED_ITEMS = 200;

/**
 * Infers a schema from a value, for outputs without a declared one: types, properties, and what every item of an array
 * has. Bounded to twelve levels, 200 keys and 200 items.
 */
export function inferSchema(value: Json): JsonObject {
  return infer(value, 0);
}

function infer(value: Json, depth: number): JsonObject {
  if (value === null) return { type: "null" };
  if (Array.isArray(value)) {
    if (value.length === 0 || depth >= MAX_INFERRED_DEPTH) return { type: "array" };
    const items = value.slice(0, MAX_INFERRED_ITEMS).map((item) => infer(item, depth + 1));
    return { type: "array", items: items.reduce(mergeSchemas) };
  }
  if (isJsonObject(value)) {
    if (depth >= MAX_INFERRED_DEPTH) return { type: "object" };
    const entries = keysOf(value)
      .slice(0, MAX_INFERRED_KEYS)
      .map((key): [string, Json] => [key, value[key] ?? null]);
    return {
      type: "object",
      properties: Object.fromEntries(entries.map(([key, member]) => [key, infer(member, depth + 1)])),
      required: entries.map(([key]) => key),
    };
  }
  if (typeof value === "number") return { type: Number.isInteger(value) ? "integer" : "number" };
  return { type: typeof value };
}

/** The branches of a merged schema's `anyOf`, or the schema itself. */
function branches(schema: JsonObject): JsonObject[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isJsonObject) : [schema];
}

function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const merged = branches(a);
  for (const branch of branches(b)) {
    const at = merged.findIndex((known) => known.type === branch.type || isNumeric(known, branch));
    const known = merged[at];
    if (known === undefined) merged.push(branch);
    else merged[at] = mergeSame(known, branch);
  }
  const [only] = merged;
  return merged.length === 1 && only !== undefined ? only : { anyOf: merged };
}

function isNumeric(a: JsonObject, b: JsonObject): boolean {
  return [a, b].every((schema) => schema.type === "integer" || schema.type === "number");
}

/** Merges two inferred schemas of the same type. */
function mergeSame(a: JsonObject, b: JsonObject): JsonObject {
  if (a.type !== b.type) return { type: "number" };
  if (a.type === "array") {
    if (!isJsonObject(a.items)) return b;
    return isJsonObject(b.items) ? { type: "array", items: mergeSchemas(a.items, b.items) } : a;
  }
  if (a.type !== "object" || !isJsonObject(a.properties) || !isJsonObject(b.properties)) return a;
  const properties = new Map(Object.entries(a.properties));
  for (const [key, schema] of Object.entries(b.properties)) {
    const known = properties.get(key);
    properties.set(key, isJsonObject(known) && isJsonObject(schema) ? mergeSchemas(known, schema) : schema);
  }
  const inB = new Set(Array.isArray(b.required) ? b.required : []);
  const required = Array.isArray(a.required) ? a.required.filter((key) => inB.has(key)) : [];
  return {
    type: "object",
    properties: Object.fromEntries([...properties].slice(0, MAX_INFERRED_KEYS)),
    required,
  };
}
