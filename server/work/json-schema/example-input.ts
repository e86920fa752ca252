import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";

/** Deeper schemas are left empty, so that the example stays readable. */
const MAX_DEPTH = 4;

/**
 * A small example of an input for a tool's parameters: the required properties and those with a default, or else the
 * first one. The schema may still reject it.
 */
export function exampleInput(parameters: Json): JsonObject {
  const example = exampleOf(parameters, 0);
  return isJsonObject(example) ? example : {};
}

function exampleOf(schema: Json | undefined, depth: number): Json {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const listed = [schema.examples, schema.enum].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(listed)) return listed[0] ?? null;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return schema.format === "date-time" ? "2026-01-01T00:00:00Z" : "text";
    case "integer":
    case "number":
      return Math.max(1, typeof schema.minimum === "number" ? schema.minimum : 1);
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return typeof schema.minItems === "number" && schema.minItems > 0
        ? [exampleOf(schema.items, depth + 1)]
        : [];
    default:
      return exampleObject(schema, depth);
  }
}

function exampleObject({ properties, required }: JsonObject, depth: number): JsonObject {
  if (!isJsonObject(properties)) return {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const hasDefault = (property: Json) => isJsonObject(property) && property.default !== undefined;
  const all = Object.entries(properties);
  const chosen = all.filter(([name, property]) => needed.has(name) || hasDefault(property));
  const shown = chosen.length > 0 ? chosen : all.slice(0, 1);
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, depth + 1)]));
}
