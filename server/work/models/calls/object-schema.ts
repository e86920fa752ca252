import { isJsonObject, type Json, type JsonObject, valueAt, writeJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";

// A chain of more is cut.
const MAX_PARTS = 1_000;
const AT_TOP = ["$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const"];

/**
 * A tool's parameters as OpenAI and Anthropic take them: an object without combinations and references at its top. It
 * allows all that the schema allows.
 */
export const plainParameters = perOwner((schema: JsonObject): JsonObject => {
  const isPlain = schema.type === "object" && !AT_TOP.some((keyword) => keyword in schema);
  return isPlain ? schema : mergeObject(schema, schema);
});

/** The properties of all parts of an object's schema; those that every branch requires are required. */
export const mergeObject = (schema: JsonObject, root: JsonObject): JsonObject =>
  merge(schema, { root, known: new Map() });

type Visit = { root: JsonObject; known: Map<JsonObject, JsonObject> };

function merge(schema: JsonObject, visit: Visit): JsonObject {
  const { root, known } = visit;
  const done = known.get(schema);
  if (done !== undefined) return done;
  // Also the end of a cycle.
  const empty = { type: "object", properties: {} };
  if (known.size === MAX_PARTS) return empty;
  known.set(schema, empty);
  const { $ref, anyOf, oneOf, allOf, not: _not, enum: _enum, const: _const, ...own } = schema;
  const target = typeof $ref === "string" ? resolveReference(root, $ref) : undefined;
  const referenced = target === undefined ? [] : [merge(target, visit)];
  const merged = (list: Json | undefined) => objectsIn(list).map((part) => merge(part, visit));
  const all = [...referenced, ...merged(allOf)];
  const choices = [merged(anyOf), merged(oneOf)];
  const required = new Set([own, ...all].flatMap(requiredBy));
  for (const [first, ...others] of choices)
    for (const name of first === undefined ? [] : requiredBy(first))
      if (others.every((each) => requiredBy(each).includes(name))) required.add(name);
  const whole = {
    ...referenced[0],
    ...own,
    type: "object",
    properties: mergeProperties(own.properties, [...all, ...choices.flat()]),
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

function mergeProperties(own: Json | undefined, parts: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Map<string, Json>>();
  for (const { properties } of parts)
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      found.set(name, (found.get(name) ?? new Map<string, Json>()).set(writeJson(schema), schema));
  const merged = [...found].map(([name, schemas]): [string, Json] => {
    const [only = {}, ...others] = schemas.values();
    return [name, others.length === 0 ? only : { anyOf: [only, ...others] }];
  });
  return { ...Object.fromEntries(merged), ...(isJsonObject(own) && own) };
}

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
