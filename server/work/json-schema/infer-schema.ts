import { type ExactNumber, isExactNumber, isWholeNumber } from "@/server/base/json/exact-number";
import { isJsonObject, type Json, type JsonObject, keysOf } from "@/server/base/json/json";

const MAX_DEPTH = 12;
const MAX_KEYS = 200;
const MAX_ITEMS = 200;

/**
 * Infers a schema from a value, for outputs without a declared one. Bounded to twelve levels, 200 keys and 200
 * items.
 */
export function inferSchema(value: Json): JsonObject {
  return inferCommon([value], 0);
}

function inferCommon(values: readonly Json[], depth: number): JsonObject {
  const isWhole = values.every((value) => !isNumber(value) || isWholeNumber(value));
  const byType = new Map<string, Json[]>();
  for (const value of values) {
    const type = isNumber(value) && isWhole ? "integer" : typeName(value);
    append(byType, type, value);
  }
  const schemas = [...byType].map(([type, group]): JsonObject => {
    if (type === "array") return { type, ...inferItems(group.filter(Array.isArray), depth) };
    return type === "object" ? { type, ...inferMembers(group.filter(isJsonObject), depth) } : { type };
  });
  const [only] = schemas;
  return schemas.length === 1 && only !== undefined ? only : { anyOf: schemas };
}

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === "number" || isExactNumber(value);
}

function typeName(value: Json): string {
  if (value === null) return "null";
  if (isNumber(value)) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

function append(groups: Map<string, Json[]>, name: string, value: Json): void {
  const group = groups.get(name);
  if (group === undefined) groups.set(name, [value]);
  else group.push(value);
}

function inferItems(lists: readonly Json[][], depth: number): JsonObject {
  const items = lists.flatMap((list) => list.slice(0, MAX_ITEMS));
  return items.length === 0 || depth >= MAX_DEPTH ? {} : { items: inferCommon(items, depth + 1) };
}

function inferMembers(objects: readonly JsonObject[], depth: number): JsonObject {
  if (depth >= MAX_DEPTH) return {};
  const members = new Map<string, Json[]>();
  for (const object of objects) {
    for (const key of keysOf(object).slice(0, MAX_KEYS)) append(members, key, object[key] ?? null);
  }
  const entries = [...members].slice(0, MAX_KEYS);
  return {
    properties: Object.fromEntries(entries.map(([key, values]) => [key, inferCommon(values, depth + 1)])),
    required: entries.filter(([, values]) => values.length === objects.length).map(([key]) => key),
  };
}
