import { isJsonObject, type Json, type JsonObject, valueAt, writeJson } from "@/server/base/json/json";
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
  return isPlain ? schema : mergeObject(schema, startMerging(schema));
});

/** Merges schemas of a document, each once. */
export type Merging = { root: JsonObject; known: Map<JsonObject, JsonObject>; left: { parts: number } };

export const startMerging = (root: JsonObject): Merging => ({
  root,
  known: new Map(),
  left: { parts: MAX_PARTS },
});

/** The properties of all parts of an object's schema; those that every branch requires are required. */
export function mergeObject(schema: JsonObject, merging: Merging, depth = 0): JsonObject {
  const { root, known, left } = merging;
  const done = known.get(schema);
  if (done !== undefined) return done;
  // Also the end of a cycle.
  const empty = { type: "object", properties: {} };
  if (left.parts <= 0 || depth > MAX_DEPTH) return empty;
  known.set(schema, empty);
  const { $ref, anyOf, oneOf, allOf, not: _not, enum: _enum, const: _const, ...own } = schema;
  const target = typeof $ref === "string" ? resolveReference(root, $ref) : undefined;
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
  const properties = mergeProperties(own.properties, new Set([...all, ...choices.flat()]));
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

function mergeProperties(own: Json | undefined, parts: ReadonlySet<JsonObject>): JsonObject {
  const found = new Map<string, Set<Json>>();
  for (const { properties } of parts)
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      found.set(name, (found.get(name) ?? new Set<Json>()).add(schema));
  const merged = [...found].map(([name, schemas]): [string, Json] => {
    const [only = {}, ...others] = schemas.size === 1 ? schemas : distinct(schemas);
    return [name, others.length === 0 ? only : { anyOf: [only, ...others] }];
  });
  return { ...Object.fromEntries(merged), ...(isJsonObject(own) && own) };
}

export const distinct = <Value extends Json>(values: Iterable<Value>): Value[] => [
  ...new Map([...values].map((value) => [writeJson(value), value])).values(),
];

/** The schema that a reference within the document names, such as `#/$defs/Item`. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.slice(1).split("/").slice(1);
  const found = steps.reduce<unknown>(
    (value, step) => valueAt(value, step.replaceAll("~1", "/").replaceAll("~0", "~")),
    root,
  );
  return isJsonObject(found) ? found : undefined;
}
