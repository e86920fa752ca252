import type { Issue } from "@/server/base/errors";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";

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

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

const issueAt = (keys: readonly (string | number)[], message: string): Issue => ({
  path: jsonPointer(keys),
  message,
});

/** Why a schema, of this JSON text, is refused although it may be valid. */
export function findRefusal(schema: JsonObject, text: string): Issue | undefined {
  if (text.length > SCHEMA_LIMITS.characters)
    return issueAt([], `is larger than ${SCHEMA_LIMITS.characters / 1024} KiB`);
  return findForbidden(schema, []) ?? findExcess(schema);
}

/** Finds what Ajv does not refuse: depth, references outside of the document, other dialects. */
function findForbidden(schema: Json, keys: (string | number)[]): Issue | undefined {
  if (keys.length > SCHEMA_LIMITS.depth)
    return issueAt(keys.slice(0, 8), `is nested deeper than ${SCHEMA_LIMITS.depth} levels`);
  if (schema === null || typeof schema !== "object") return undefined;
  for (const [key, member] of Array.isArray(schema) ? schema.entries() : Object.entries(schema)) {
    const here = [...keys, key];
    if ((key === "$ref" || key === "$dynamicRef") && typeof member === "string" && !member.startsWith("#"))
      return issueAt(here, "refers outside of the schema; only # references are allowed");
    if (key === "$schema" && member !== DIALECT) return issueAt(here, `must be ${DIALECT}`);
    const issue = findForbidden(member, here);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

/** The first limit that a schema exceeds, with its path. */
function findExcess(root: JsonObject): Issue | undefined {
  let count = 0;
  const open: { keys: (string | number)[]; schema: Json }[] = [{ keys: [], schema: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { keys, schema } = next;
    count += 1;
    if (count > SCHEMA_LIMITS.subschemas)
      return issueAt([], `has more than ${SCHEMA_LIMITS.subschemas} subschemas`);
    if (!isJsonObject(schema)) continue;
    const excess = excessOf(schema);
    if (excess !== undefined) return issueAt([...keys, excess.key], excess.message);
    for (const [path, child] of subschemasOf(schema)) open.push({ keys: [...keys, ...path], schema: child });
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

/** Keywords that contain a map of schemas, and those that contain one or a list. */
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);
const HOLDERS = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "additionalProperties", "items", "prefixItems", "if", "then", "else"],
  ...["contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"],
]);

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
