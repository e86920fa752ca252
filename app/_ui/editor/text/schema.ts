import { isJsonObject, writeJson } from "@/server/base/json/json";
import type { Path } from "./position";

export type { Path };

type Schema = Record<string, unknown>;

/** The schemas at a path, for a JSON Schema with references to its own `$defs`. */
export function schemasAt(schema: unknown, path: Path): readonly Schema[] {
  let found = alternativesOf(schema, schema);
  for (const key of path) found = found.flatMap((each) => alternativesOf(memberSchema(each, key), schema));
  return found;
}

function alternativesOf(schema: unknown, root: unknown, depth = 0): Schema[] {
  if (!isJsonObject(schema) || depth > 8) return [];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const parts = [anyOf, oneOf, allOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const target = typeof $ref === "string" && $ref.startsWith("#/") ? resolve(root, $ref) : undefined;
  return [schema, ...[...parts, target].flatMap((part) => alternativesOf(part, root, depth + 1))];
}

const resolve = (root: unknown, reference: string): unknown =>
  reference
    .slice(2)
    .split("/")
    .reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), root);

function memberSchema(schema: Schema, key: string | number): unknown {
  if (typeof key === "number") return schema.items;
  const { properties, additionalProperties } = schema;
  return isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
}

export type Member = { name: string; schema: Schema; type: string; description: string | undefined };

/** The properties of an object, each once. */
export function membersOf(schemas: readonly Schema[]): Member[] {
  const members = new Map<string, Member>();
  for (const { properties } of schemas) {
    if (!isJsonObject(properties)) continue;
    for (const [name, of] of Object.entries(properties)) {
      const schema = isJsonObject(of) ? of : {};
      if (members.has(name)) continue;
      const { description } = schema;
      members.set(name, {
        name,
        schema,
        type: typeOf(schema),
        description: typeof description === "string" ? description : undefined,
      });
    }
  }
  return [...members.values()];
}

/** The values that a schema names, without duplicates: its choices, its default and its examples. */
export function namedValues(schemas: readonly Schema[]): unknown[] {
  const values = schemas.flatMap((schema): unknown[] => {
    const { enum: choices, examples, type } = schema;
    return [
      ...(Array.isArray(choices) ? choices : []),
      ...(Object.hasOwn(schema, "const") ? [schema.const] : []),
      ...(type === "boolean" ? [true, false] : []),
      ...(Object.hasOwn(schema, "default") ? [schema.default] : []),
      ...(Array.isArray(examples) ? examples : []),
    ];
  });
  const byText = new Map(values.map((value) => [writeJson(value), value]));
  return [...byText.values()];
}

const TYPES = new Map([
  ["string", "text"],
  ["integer", "whole number"],
  ["number", "number"],
  ["boolean", "yes or no"],
  ["array", "list"],
  ["object", "object"],
  ["null", "nothing"],
]);

/** The name of a schema's type; empty if it has none. */
export function typeOf({ type, enum: choices, anyOf }: Schema): string {
  if (typeof type === "string") return TYPES.get(type) ?? type;
  if (Array.isArray(type)) return type.map((each) => TYPES.get(String(each)) ?? String(each)).join(" or ");
  if (Array.isArray(choices)) return "one of";
  return Array.isArray(anyOf) ? [...new Set(anyOf.filter(isJsonObject).map(typeOf))].join(" or ") : "";
}

/** The schema that a value shows: of objects their keys, of lists those of the first item. */
export function schemaOf(value: unknown): Schema {
  if (Array.isArray(value)) return { type: "array", items: schemaOf(value[0]) };
  if (isJsonObject(value)) {
    const properties = Object.entries(value).map(([name, each]) => [name, schemaOf(each)] as const);
    return { type: "object", properties: Object.fromEntries(properties) };
  }
  return value === undefined || value === null ? {} : { type: typeof value };
}
