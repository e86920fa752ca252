import { isJsonObject } from "@/server/json/json";

/**
 * A JSON Schema as a list of fields that a form edits. Keywords that the form has no control for stay as they are, so that
 * an edit loses nothing. A schema whose meaning the list cannot show is edited as text.
 */

export const FIELD_TYPES = {
  text: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "Yes or no",
  choice: "One of",
  list: "List",
  object: "Object",
  any: "Any",
} as const;

export type FieldType = keyof typeof FIELD_TYPES;

export type SchemaField = {
  /** Empty for the items of a list. */
  name: string;
  required: boolean;
  type: FieldType;
  description: string;
  /** Undefined: none. */
  preset: unknown;
  /** The values of `choice`, as typed. */
  choices: readonly string[];
  /** The fields of `object`. */
  fields: readonly SchemaField[];
  /** What a `list` consists of. */
  items: SchemaField | null;
  /** Other keywords, such as `maxLength`. */
  rest: Readonly<Record<string, unknown>>;
};

/** An object's fields, and its other keywords. */
export type SchemaFields = Pick<SchemaField, "fields" | "rest">;

/** Why a schema cannot be shown as fields, as a sentence. */
type Unshown = { reason: string };

/** Deeper fields would be too narrow to edit. */
const MAX_DEPTH = 3;

/** Keywords that change what a schema means as a whole. */
const UNSHOWN = [
  "$ref",
  "$dynamicRef",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "prefixItems",
  "patternProperties",
  "dependentSchemas",
];

export function newField(name = ""): SchemaField {
  return {
    name,
    required: false,
    type: "text",
    description: "",
    preset: undefined,
    choices: [],
    fields: [],
    items: null,
    rest: {},
  };
}

/** The field with another type. What only the earlier type had is dropped. */
export function withType(field: SchemaField, type: FieldType): SchemaField {
  const { name, required, description } = field;
  const isNumber = (each: FieldType) => each === "number" || each === "integer";
  if (isNumber(type) && isNumber(field.type)) {
    const isWhole = type === "number" || Number.isInteger(field.preset);
    return { ...field, type, preset: isWhole ? field.preset : undefined };
  }
  return {
    ...newField(name),
    required,
    description,
    type,
    items: type === "list" ? newField() : null,
  };
}

/** The fields of an object's schema; undefined is a schema without fields. */
export function readFields(schema: unknown): SchemaFields | Unshown {
  if (schema === undefined) return { fields: [], rest: {} };
  try {
    const root = readField(schema, { name: "", path: "The schema", required: false, depth: 0 });
    if (root.type !== "object") return { reason: "The schema is not of an object with properties." };
    const { fields, description, rest } = root;
    return { fields, rest: { ...(description !== "" && { description }), ...rest } };
  } catch (error) {
    if (error instanceof UnshownError) return { reason: error.message };
    throw error;
  }
}

class UnshownError extends Error {}

type At = { name: string; path: string; required: boolean; depth: number };

function readField(schema: unknown, at: At): SchemaField {
  const { name, path, required, depth } = at;
  if (!isJsonObject(schema)) throw new UnshownError(`${path} is not an object of keywords.`);
  if (depth > MAX_DEPTH) throw new UnshownError(`${path} is nested deeper than ${MAX_DEPTH} levels.`);
  const keyword = UNSHOWN.find((each) => Object.hasOwn(schema, each));
  if (keyword) throw new UnshownError(`${path} uses ${keyword}.`);
  const type = typeOf(schema, path);
  const { type: _, description, default: preset, ...others } = schema;
  const field = {
    ...newField(name),
    required,
    type,
    description: typeof description === "string" ? description : "",
  };
  const inner = { required: false, depth: depth + 1 };
  switch (type) {
    case "object": {
      const { properties = {}, required: names = [], ...rest } = others;
      if (!isJsonObject(properties) || !Array.isArray(names)) {
        throw new UnshownError(`${path} has invalid properties.`);
      }
      const unknown = names.find((each) => typeof each !== "string" || !Object.hasOwn(properties, each));
      if (unknown !== undefined) {
        throw new UnshownError(`${path} requires ${JSON.stringify(unknown)}, which is no property.`);
      }
      const fields = Object.entries(properties).map(([each, of]) =>
        readField(of, {
          ...inner,
          name: each,
          path: quote(path, each, depth),
          required: names.includes(each),
        }),
      );
      return { ...field, fields, rest: withPreset(rest, preset) };
    }
    case "list": {
      const { items = {}, ...rest } = others;
      const of = readField(items, { ...inner, name: "", path: `An item of ${path.replace("The", "the")}` });
      return { ...field, items: of, rest: withPreset(rest, preset) };
    }
    case "choice": {
      const { enum: choices, ...rest } = others;
      const isChoice = Array.isArray(choices) && choices.some((each) => each === preset);
      return {
        ...field,
        choices: Array.isArray(choices) ? choices.map(String) : [],
        preset: isChoice ? preset : undefined,
        rest: isChoice ? rest : withPreset(rest, preset),
      };
    }
    default:
      return hasControl(type, preset)
        ? { ...field, preset, rest: others }
        : { ...field, rest: withPreset(others, preset) };
  }
}

/** `"address.city"` for a property of a property. */
const quote = (path: string, name: string, depth: number) =>
  depth === 0 ? `"${name}"` : `${path.replace(/"$/, "")}.${name}"`;

const withPreset = (rest: Record<string, unknown>, preset: unknown) =>
  preset === undefined ? rest : { ...rest, default: preset };

/** Whether the form has a control for a default of this type. */
function hasControl(type: FieldType, preset: unknown): boolean {
  if (type === "text") return typeof preset === "string" && preset !== "" && !preset.includes("\n");
  if (type === "integer") return Number.isInteger(preset);
  return typeof preset === type;
}

const NAMES = new Map<unknown, FieldType>([
  ["string", "text"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["array", "list"],
  ["object", "object"],
]);

function typeOf(schema: Record<string, unknown>, path: string): FieldType {
  const { type, enum: choices, properties } = schema;
  if (Array.isArray(type)) throw new UnshownError(`${path} has several types.`);
  const areTexts = Array.isArray(choices) && choices.every((each) => typeof each === "string");
  if (areTexts && choices.length > 0 && (type === "string" || type === undefined)) return "choice";
  if (type === undefined) return isJsonObject(properties) ? "object" : "any";
  const known = NAMES.get(type);
  if (known === undefined) throw new UnshownError(`${path} has the type ${JSON.stringify(type)}.`);
  return known;
}

/** The schema of an object with these fields. Fields without a name of their own are left out. */
export function toSchema({ fields, rest }: SchemaFields): Record<string, unknown> {
  const named = fields.filter((field) => nameFault(field, fields) === null);
  const required = named.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(named.map((field) => [field.name, fieldSchema(field)])),
    ...(required.length > 0 && { required }),
    ...rest,
  };
}

function fieldSchema(field: SchemaField): Record<string, unknown> {
  const { description, preset } = field;
  const { type, ...content } = contentOf(field);
  return {
    ...(type !== undefined && { type }),
    ...(description !== "" && { description }),
    ...content,
    ...(preset !== undefined && { default: preset }),
  };
}

function contentOf(field: SchemaField): Record<string, unknown> {
  const { type, rest } = field;
  if (type === "object") return toSchema(field);
  if (type === "any") return rest;
  if (type === "list") {
    const items = field.items === null ? {} : fieldSchema(field.items);
    return { type: "array", ...(Object.keys(items).length > 0 && { items }), ...rest };
  }
  if (type === "choice") {
    const choices = choicesOf(field);
    return { type: "string", ...(choices.length > 0 && { enum: choices }), ...rest };
  }
  return { type: type === "text" ? "string" : type, ...rest };
}

/** The different values of a choice. */
export const choicesOf = ({ choices }: SchemaField) =>
  [...new Set(choices.map((each) => each.trim()))].filter((each) => each !== "");

/** Why the field is not part of the schema yet; null: it is. */
export function nameFault(field: SchemaField, fields: readonly SchemaField[]): string | null {
  if (field.name === "") return "Without a name it is not saved.";
  const first = fields.find(({ name }) => name === field.name);
  return first === field ? null : `Another one is named ${field.name}. This one is not saved.`;
}

/** The keywords that have no control, in a line. */
export function describeRest({ rest }: Pick<SchemaField, "rest">): string {
  return Object.entries(rest)
    .map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`)
    .join(", ");
}
