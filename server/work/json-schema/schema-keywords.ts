import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";

const MAPS = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"],
]);
const HOLDERS = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "additionalProperties", "items", "prefixItems", "if", "then", "else"],
  ...["contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "additionalItems"],
]);
export const isSchemaMap = (keyword: string): boolean => MAPS.has(keyword);
export const isSchemaHolder = (keyword: string): boolean => HOLDERS.has(keyword);

/** The direct subschemas of a schema, each with its path. */
export function* subschemasOf(schema: JsonObject): Generator<[(string | number)[], Json]> {
  for (const [keyword, held] of Object.entries(schema)) {
    const isMap = MAPS.has(keyword);
    if (!isMap && !HOLDERS.has(keyword)) continue;
    if (Array.isArray(held)) for (const [index, child] of held.entries()) yield [[keyword, index], child];
    else if (isMap && isJsonObject(held)) {
      for (const [name, child] of Object.entries(held)) yield [[keyword, name], child];
    } else yield [[keyword], held];
  }
}
