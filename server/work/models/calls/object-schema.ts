import {
  isJsonObject,
  type Json,
  type JsonObject,
  readJson,
  valueAt,
  writeJson,
} from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";

// References can multiply.
const MAX_PARTS = 2_000;
const MAX_DEPTH = 64;
const AT_TOP = ["$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const"];

/**
 * A tool's parameters as OpenAI and Anthropic take them: an object without combinations and references at its top. It
 * allows all that the schema allows.
 */
export const plainParameters = perOwner((schema: JsonObject): JsonObject => {
  const isPlain = schema.type === "object" && !AT_TOP.some((keyword) => keyword in schema);
  if (isPlain) return schema;
  const resolve = (reference: string) => resolveReference(schema, reference);
  return withReferredParts(mergeObject(schema, startMerging(resolve)), schema);
});

// References into combinations that the merge removed.
const INTO_PARTS = /"\$ref":"#\/(?=(?:anyOf|oneOf|allOf)\/)/g;

function withReferredParts(merged: JsonObject, { anyOf, oneOf, allOf }: JsonObject): JsonObject {
  if (writeJson(merged).search(INTO_PARTS) < 0) return merged;
  const TopLevelParts = { ...(anyOf && { anyOf }), ...(oneOf && { oneOf }), ...(allOf && { allOf }) };
  const whole = { ...merged, $defs: { ...(isJsonObject(merged.$defs) && merged.$defs), TopLevelParts } };
  const found = readJson(writeJson(whole).replaceAll(INTO_PARTS, '"$ref":"#/$defs/TopLevelParts/'));
  return isJsonObject(found) ? found : merged;
}

type Resolve = (reference: string) => JsonObject | undefined;

/** Merges schemas of a document, each once. */
export type Merging = { resolve: Resolve; known: Map<JsonObject, JsonObject>; left: { parts: number } };

export const startMerging = (resolve: Resolve): Merging => ({
  resolve,
  known: new Map(),
  left: { parts: MAX_PARTS },
});

/** The properties of all parts of an object's schema; those that every branch requires are required. */
export function mergeObject(schema: JsonObject, merging: Merging, depth = 0): JsonObject {
  const { resolve, known, left } = merging;
  const done = known.get(schema);
  if (done !== undefined) return done;
  // Also the end of a cycle.
  const empty = { type: "object", properties: {} };
  if (left.parts <= 0 || depth > MAX_DEPTH) return empty;
  known.set(schema, empty);
  const { $ref, anyOf, oneOf, allOf, not: _not, enum: _enum, const: _const, ...own } = schema;
  const target = typeof $ref === "string" ? resolve($ref) : undefined;
  const referenced = target === undefined ? [] : [mergeObject(target, merging, depth + 1)];
  const merged = (list: Json | undefined) =>
    objectsIn(list).map((part) => mergeObject(part, merging, depth + 1));
  const all = [...referenced, ...merged(allOf)];
  const choices = [merged(anyOf), merged(oneOf)];
  const required = new Set([own, ...all].flatMap(requiredBy));
  for (const [first, ...others] of choices) {
    const inOthers = others.map((each) => new Set(requiredBy(each)));
    for (const name of first === undefined ? [] : requiredBy(first))
      if (inOthers.every((names) => names.has(name))) required.add(name);
  }
  const properties = mergeProperties(own.properties, { all, choices });
  left.parts -= 1 + Object.keys(properties).length;
  const whole = {
    ...referenced[0],
    ...own,
    type: "object",
    properties,
    ...(required.size > 0 && { required: [...required] }),
  };
  known.set(schema, whole);
  return whole;
}

const objectsIn = (list: Json | undefined): JsonObject[] =>
  (Array.isArray(list) ? list : []).flatMap((part): JsonObject[] => {
    if (part === true) return [{}];
    return isJsonObject(part) && [part.type ?? "object"].flat().includes("object") ? [part] : [];
  });

const requiredBy = ({ required }: JsonObject): string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];

type Parts = { all: JsonObject[]; choices: JsonObject[][] };

function mergeProperties(given: Json | undefined, { all, choices }: Parts): JsonObject {
  const own = isJsonObject(given) ? given : {};
  const found = new Map<string, Set<Json>>();
  for (const { properties } of new Set([...all, ...choices.flat()]))
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      found.set(name, (found.get(name) ?? new Set<Json>()).add(schema));
  const merged = [...found].map(([name, schemas]): [string, Json] => {
    const stated = Object.hasOwn(own, name) ? own[name] : undefined;
    if (stated !== undefined) return [name, refined(stated, name, { all, choices })];
    const [only = {}, ...others] = schemas.size === 1 ? schemas : distinct(schemas);
    return [name, others.length === 0 ? only : { anyOf: [only, ...others] }];
  });
  return { ...own, ...Object.fromEntries(merged) };
}

// A property that each branch states has one of their forms.
function refined(own: Json, name: string, { all, choices }: Parts): Json {
  if (!isJsonObject(own)) return own;
  const whole: JsonObject = Object.assign({}, ...statedIn(all, name), own);
  const complete = choices.map((branches) => ({ branches, stated: statedIn(branches, name) }));
  const { stated = [] } =
    complete.find(({ branches, stated }) => stated.length > 0 && stated.length === branches.length) ?? {};
  const [only = {}, ...others] = distinct(stated);
  if (others.length === 0) return { ...only, ...whole };
  return "anyOf" in whole ? whole : { ...whole, anyOf: [only, ...others] };
}

const statedIn = (parts: readonly JsonObject[], name: string): JsonObject[] =>
  parts
    .map(({ properties }) => valueAt(properties, name))
    .filter((value): value is JsonObject => isJsonObject(value));

export const distinct = <Value extends Json>(values: Iterable<Value>): Value[] => [
  ...new Map([...values].map((value) => [writeJson(value), value])).values(),
];

/** The schema that a reference within the document names, such as `#/$defs/Item`. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  const found = steps.reduce<unknown>(
    (value, step) => valueAt(value, decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")),
    root,
  );
  return isJsonObject(found) ? found : undefined;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
