import { isJsonObject } from "@/server/base/json/json";

/** Deeper parts of a schema are edited as JSON. */
const MAX_DEPTH = 4;

const JSON_FIELD = { kind: "json" } as const;

/** What a form shows for a schema. `json`: what a form cannot show is edited as JSON. */
export function readField(schema: unknown, depth = 0) {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return JSON_FIELD;
  const { type } = schema;
  if (Array.isArray(schema.enum) && schema.enum.every(isScalar) && schema.enum.length > 0)
    return { kind: "choice", values: schema.enum } as const;
  if (type === "string") {
    const format = typeof schema.format === "string" ? schema.format : null;
    const long = typeof schema.maxLength === "number" ? schema.maxLength > 200 : false;
    return { kind: "text", format, long } as const;
  }
  if (type === "number" || type === "integer") {
    const [min, max] = [numberOf(schema.minimum), numberOf(schema.maximum)];
    return { kind: "number", integer: type === "integer", min, max } as const;
  }
  if (type === "boolean") return { kind: "boolean" } as const;
  if (type === "array") return { kind: "list", items: schema.items ?? {} } as const;
  if (isJsonObject(schema.properties) && (type === "object" || type === undefined))
    return { kind: "object", properties: propertiesOf(schema) } as const;
  return JSON_FIELD;
}

export type FieldProperty = ReturnType<typeof propertiesOf>[number];

function propertiesOf(schema: Record<string, unknown>) {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).map(([name, property]) => ({
    name,
    label: isJsonObject(property) && typeof property.title === "string" ? property.title : name,
    hint: isJsonObject(property) && typeof property.description === "string" ? property.description : null,
    required: required.includes(name),
    schema: property,
  }));
}

/**
 * A value to start from: the schema's default or first example. An object has the properties with a default, and the
 * required ones that need not be typed. An optional object is left out: its own required properties would make it fail.
 * Undefined if there is nothing to start from.
 */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return undefined;
  const declared = declaredStart(schema);
  if (declared !== undefined) return declared;
  const field = readField(schema, depth);
  if (field.kind !== "object") return undefined;
  const entries = field.properties.flatMap((property) => {
    const { kind } = readField(property.schema, depth + 1);
    const value =
      kind === "object" && !property.required
        ? declaredStart(property.schema)
        : (sampleOf(property.schema, depth + 1) ??
          // `""` would be valid, but nobody who is asked for a text means to give none. It can be typed as JSON.
          (property.required && kind !== "text" ? emptyOf(property.schema, depth + 1) : undefined));
    return value === undefined ? [] : [[property.name, value] as const];
  });
  return Object.fromEntries(entries);
}

function declaredStart(schema: unknown): unknown {
  if (!isJsonObject(schema)) return undefined;
  const { default: preset, examples, const: only } = schema;
  return [preset, Array.isArray(examples) ? examples[0] : undefined, only].find(
    (value) => value !== undefined,
  );
}

/** The value of a new, required field. */
export function emptyOf(schema: unknown, depth = 0): unknown {
  const field = readField(schema, depth);
  switch (field.kind) {
    case "text":
      return "";
    case "boolean":
      return false;
    case "choice":
      return field.values[0];
    case "list":
      return [];
    case "object":
      return sampleOf(schema, depth) ?? {};
    default:
      return undefined;
  }
}

/** A copy of an object with one property set, or without it if the value is undefined. */
export function withProperty(value: unknown, name: string, next: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = isJsonObject(value) ? value : {};
  if (next === undefined) return rest;
  // The order of properties stays, so that the JSON beside the form does not jump.
  if (isJsonObject(value) && name in value)
    return Object.fromEntries(Object.entries(value).map(([key, old]) => [key, key === name ? next : old]));
  return { ...rest, [name]: next };
}

const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || ["string", "number", "boolean"].includes(typeof value);
const numberOf = (value: unknown) => (typeof value === "number" ? value : null);
