import type { Issue } from "@/server/base/errors";
import {
  isContainer,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  writeJson,
} from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import { formatLimit } from "@/server/contract/sizes";
import { dialectOf, usablePattern } from "./schema-dialect";
import { subschemasOf } from "./schema-keywords";

/** Limits of a JSON Schema; a larger one is rejected when it is saved. */
export const SCHEMA_LIMITS = {
  characters: 128 * 1024,
  depth: 64,
  subschemas: 2_000,
  enumValues: 2_000,
  branches: 100,
  patternLength: 1_000,
} as const;

const issueAt = (keys: readonly (string | number)[], message: string): Issue => ({
  path: jsonPointer(keys),
  message,
});

/** The reason why a schema, of this JSON text, is rejected although it may be valid. */
export function findRejection(schema: JsonObject, text: string): Issue | undefined {
  if (text.length > SCHEMA_LIMITS.characters)
    return issueAt([], `is larger than ${formatLimit(SCHEMA_LIMITS.characters)}`);
  const unknown =
    "must be the address of draft-07, 2019-09 or 2020-12, such as http://json-schema.org/draft-07/schema#";
  return (
    findDeep(schema, []) ??
    (dialectOf(schema) === undefined ? issueAt(["$schema"], unknown) : undefined) ??
    findExcess(schema)
  );
}

// Nesting counts in data, too: Ajv follows it in a `const`.
function findDeep(value: Json, keys: (string | number)[]): Issue | undefined {
  if (keys.length > SCHEMA_LIMITS.depth)
    return issueAt(keys.slice(0, 8), `is nested deeper than ${SCHEMA_LIMITS.depth} levels`);
  if (!isContainer(value)) return undefined;
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const issue = findDeep(member, [...keys, key]);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

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
    if (excess !== undefined) return issueAt([...keys, ...excess.keys], excess.message);
    for (const [path, child] of subschemasOf(schema)) open.push({ keys: [...keys, ...path], schema: child });
  }
  return undefined;
}

function excessOf(schema: JsonObject): { keys: string[]; message: string } | undefined {
  const { enumValues, branches } = SCHEMA_LIMITS;
  for (const key of ["$ref", "$dynamicRef"]) {
    const reference = schema[key];
    if (typeof reference === "string" && !reference.startsWith("#"))
      return { keys: [key], message: "refers outside of the schema; only # references are allowed" };
  }
  if (Array.isArray(schema.enum) && schema.enum.length > enumValues) {
    return { keys: ["enum"], message: `has more than ${enumValues} values` };
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const held = schema[key];
    if (Array.isArray(held) && held.length > branches)
      return { keys: [key], message: `has more than ${branches} branches` };
  }
  const named = isJsonObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  for (const [pattern, keys] of [
    [schema.pattern, ["pattern"]] as const,
    ...named.map((name) => [name, ["patternProperties", name]] as const),
  ]) {
    const message = typeof pattern === "string" ? issueOfPattern(pattern) : undefined;
    if (message !== undefined) return { keys: [...keys], message };
  }
  return undefined;
}

function issueOfPattern(pattern: string): string | undefined {
  const { patternLength } = SCHEMA_LIMITS;
  if (pattern.length > patternLength) return `has more than ${patternLength} characters`;
  return usablePattern(pattern) === undefined ? "is not a regular expression" : undefined;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const ANNOTATIONS = words(
  "$schema $comment $defs definitions title description default examples example deprecated readOnly writeOnly",
);
const PLAIN = words(
  "type nullable minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems " +
    "minProperties maxProperties enum const required",
);
const IN_PLACE = words("allOf anyOf oneOf not");
const DESCENDING = words("properties additionalProperties items prefixItems");
const FORMATS = words("date date-time time uuid email ipv4 uri hostname");
const FORMAT_STEPS = 32;
const CHARACTERS_PER_STEP = 4;
// Subschemas, keywords and listed values, with each target of references once, as Ajv compiles it without inlining.
// So many take up to 30 ms.
const MAX_COMPILED_AT_ONCE = 200;

/**
 * The most steps (server/base/json/small.ts) of a check for each part of a value. Infinity for a schema with a pattern,
 * a circular reference or an unusual keyword, and for one that is costly to compile.
 */
export function stepsOf(root: JsonObject): number {
  const known = new Map<Json, number>();
  let compiled = 0;

  // A reference costs as much as its target; a circular one has no bound.
  const ofReference = (reference: Json): number => {
    const before = known.get(reference);
    if (before !== undefined) return before;
    known.set(reference, Infinity);
    const target = resolve(root, reference);
    const steps = target === undefined ? Infinity : of(target);
    known.set(reference, steps);
    return steps;
  };
  const ofKeyword = (keyword: string, value: Json): number => {
    if (ANNOTATIONS.has(keyword)) return 0;
    compiled += 1 + (Array.isArray(value) ? value.length : 0);
    if (keyword === "$ref") return ofReference(value);
    if (keyword === "format")
      return typeof value === "string" && FORMATS.has(value) ? FORMAT_STEPS : Infinity;
    if (keyword === "properties") return isJsonObject(value) ? Object.keys(value).length : Infinity;
    if (PLAIN.has(keyword)) return 1 + writeJson(value).length / CHARACTERS_PER_STEP;
    return IN_PLACE.has(keyword) || DESCENDING.has(keyword) ? 0 : Infinity;
  };
  // Schemas for the same value add up. Of those for its disjoint parts, the most expensive one counts.
  const of = (schema: Json): number => {
    compiled += 1;
    if (compiled > MAX_COMPILED_AT_ONCE) return Infinity;
    if (!isJsonObject(schema)) return 1;
    let here = 1;
    let below = 0;
    for (const [keyword, value] of Object.entries(schema)) here += ofKeyword(keyword, value);
    for (const [[keyword], child] of subschemasOf(schema)) {
      if (IN_PLACE.has(String(keyword))) here += 1 + of(child);
      else if (DESCENDING.has(String(keyword))) below = Math.max(below, of(child));
    }
    return compiled > MAX_COMPILED_AT_ONCE ? Infinity : here + below;
  };
  return of(root);
}

/** The issue of a schema that cannot be compiled. Ajv does not say where a reference is that it cannot resolve. */
export function toIssue(schema: JsonObject, issue: string): Issue {
  const reference = /^can't resolve reference (\S+) from id/.exec(issue)?.[1];
  const keys = reference === undefined ? undefined : findReference(schema, reference);
  if (keys === undefined) return issueAt([], issue);
  return issueAt(keys, `refers to ${reference}, which does not exist; # is the whole schema`);
}

function findReference(root: JsonObject, reference: string): (string | number)[] | undefined {
  const open: { keys: (string | number)[]; schema: Json }[] = [{ keys: [], schema: root }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { keys, schema } = next;
    if (!isJsonObject(schema)) continue;
    for (const key of ["$ref", "$dynamicRef"]) if (schema[key] === reference) return [...keys, key];
    for (const [path, child] of subschemasOf(schema)) open.push({ keys: [...keys, ...path], schema: child });
  }
  return undefined;
}

function resolve(root: Json, reference: Json): Json | undefined {
  if (typeof reference !== "string" || !/^#(?:\/[\w$-]+)*$/.test(reference)) return undefined;
  let at: Json | undefined = root;
  for (const key of reference.split("/").slice(1)) {
    at = at === undefined ? undefined : memberOf(at, key);
  }
  return at;
}
