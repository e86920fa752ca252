import { isJsonObject } from "@/server/base/json/json";

/**
 * A JSON Schema as a list of fields that a form edits. Keywords that the form has no control for stay as they are, so that
 * an edit loses nothing. A schema whose meaning the list cannot show is edited as text.
 */

/** The types of fields: their titles, and the `type` of their schema. A `string` without choices is a text. */
export const FIELD_TYPES = {
  text: { title: "Text", of: "string" },
  number: { title: "Number", of: "number" },
  integer: { title: "Whole number", of: "integer" },
  boolean: { title: "Yes or no", of: "boolean" },
  choice: { title: "One of", of: "string" },
  list: { title: "List", of: "array" },
  object: { title: "Object", of: "object" },
  any: { title: "Any", of: undefined },
} as const;

export type FieldType = keyof typeof FIELD_TYPES;
export const isFieldType = (type: string): type is FieldType => Object.hasOwn(FIELD_TYPES, type);

/** One property of a schema, the items of a list, or the schema as a whole. */
export type Field = {
  /** Empty for the items of a list, and for the schema as a whole. */
  name: string;
  required: boolean;
  type: FieldType;
  /** Its keywords besides `type` and those that the following express. */
  keywords: Readonly<Record<string, unknown>>;
  /** The values of `choice`, as typed. */
  choices: readonly string[];
  /** The fields of `object`. */
  fields: readonly Field[];
  /** What a `list` consists of; null for other types. */
  items: Field | null;
};

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

export function newField(name = ""): Field {
  return { name, required: false, type: "text", keywords: {}, choices: [], fields: [], items: null };
}

/** The schema of an object without fields. */
export const NO_FIELDS: Field = { ...newField(), type: "object" };

/** The field with a keyword; undefined removes it. */
export function withKeyword(field: Field, keyword: string, value: unknown): Field {
  const { [keyword]: _, ...others } = field.keywords;
  return { ...field, keywords: value === undefined ? others : { ...field.keywords, [keyword]: value } };
}

/** The field with another type. What only the earlier type had is dropped. */
export function withType(field: Field, type: FieldType): Field {
  const { name, required, keywords } = field;
  const { default: preset, description } = keywords;
  const isNumber = (each: FieldType) => each === "number" || each === "integer";
  if (isNumber(type) && isNumber(field.type)) {
    const next = { ...field, type };
    return hasControl(next, preset) ? next : withKeyword(next, "default", undefined);
  }
  const next = { ...newField(name), required, type, items: type === "list" ? newField() : null };
  return withKeyword(next, "description", description);
}

/** The fields of an object's schema; undefined is a schema without fields. */
export function readFields(schema: unknown): Field | Unshown {
  if (schema === undefined) return NO_FIELDS;
  try {
    const root = readField(schema, { name: "", path: "The schema", required: false, depth: 0 });
    return root.type === "object" ? root : { reason: "The schema is not of an object with properties." };
  } catch (error) {
    if (error instanceof UnshownError) return { reason: error.message };
    throw error;
  }
}

class UnshownError extends Error {}

type At = { name: string; path: string; required: boolean; depth: number };

function readField(schema: unknown, at: At): Field {
  const { name, path, required, depth } = at;
  if (!isJsonObject(schema)) throw new UnshownError(`${path} is not an object of keywords.`);
  if (depth > MAX_DEPTH) throw new UnshownError(`${path} is nested deeper than ${MAX_DEPTH} levels.`);
  const keyword = UNSHOWN.find((each) => Object.hasOwn(schema, each));
  if (keyword) throw new UnshownError(`${path} uses ${keyword}.`);
  const type = typeOf(schema, path);
  const { type: _, ...keywords } = schema;
  const field = { ...newField(name), required, type };
  const inner = { required: false, depth: depth + 1 };
  if (type === "object") {
    const { properties = {}, required: names = [], ...others } = keywords;
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
    return { ...field, keywords: others, fields };
  }
  if (type === "list") {
    const { items = {}, ...others } = keywords;
    const of = readField(items, { ...inner, name: "", path: `An item of ${path.replace("The", "the")}` });
    return { ...field, keywords: others, items: of };
  }
  if (type === "choice") {
    const { enum: choices, ...others } = keywords;
    return { ...field, keywords: others, choices: Array.isArray(choices) ? choices.map(String) : [] };
  }
  return { ...field, keywords };
}

/** `"address.city"` for a property of a property. */
const quote = (path: string, name: string, depth: number) =>
  depth === 0 ? `"${name}"` : `${path.replace(/"$/, "")}.${name}"`;

/** Whether the form has a control for a default of the field. */
function hasControl(field: Field, preset: unknown): boolean {
  const { type } = field;
  if (type === "text") return typeof preset === "string" && preset !== "" && !preset.includes("\n");
  if (type === "integer") return Number.isInteger(preset);
  if (type === "choice") return choicesOf(field).some((each) => each === preset);
  return (type === "number" || type === "boolean") && typeof preset === type;
}

/** The field's default, if the form has a control for it. */
export function presetOf(field: Field): unknown {
  const { default: preset } = field.keywords;
  return hasControl(field, preset) ? preset : undefined;
}

function typeOf(schema: Record<string, unknown>, path: string): FieldType {
  const { type, enum: choices, properties } = schema;
  if (Array.isArray(type)) throw new UnshownError(`${path} has several types.`);
  const areTexts = Array.isArray(choices) && choices.every((each) => typeof each === "string");
  if (areTexts && choices.length > 0 && (type === "string" || type === undefined)) return "choice";
  if (type === undefined) return isJsonObject(properties) ? "object" : "any";
  const known = Object.keys(FIELD_TYPES)
    .filter(isFieldType)
    .find((each) => FIELD_TYPES[each].of === type);
  if (known === undefined) throw new UnshownError(`${path} has the type ${JSON.stringify(type)}.`);
  return known;
}

/** The schema of a field. Fields without a name of their own are left out. */
export function toSchema(field: Field): Record<string, unknown> {
  const { description, ...keywords } = field.keywords;
  const { of: type } = FIELD_TYPES[field.type];
  return {
    ...(type !== undefined && { type }),
    ...(description !== undefined && { description }),
    ...contentOf(field),
    ...keywords,
  };
}

/** What the schemas of objects, lists and choices have. */
function contentOf(field: Field): Record<string, unknown> {
  const { type, fields } = field;
  if (type === "object") {
    const named = fields.filter((each) => nameFault(each, fields) === null);
    const required = named.filter((each) => each.required).map(({ name }) => name);
    return {
      properties: Object.fromEntries(named.map((each) => [each.name, toSchema(each)])),
      ...(required.length > 0 && { required }),
    };
  }
  if (field.items !== null) {
    const items = toSchema(field.items);
    return Object.keys(items).length > 0 ? { items } : {};
  }
  const choices = type === "choice" ? choicesOf(field) : [];
  return choices.length > 0 ? { enum: choices } : {};
}

/** The different values of a choice. */
export const choicesOf = ({ choices }: Field) =>
  [...new Set(choices.map((each) => each.trim()))].filter((each) => each !== "");

/** Why the field is not part of the schema yet; null: it is. */
export function nameFault(field: Field, fields: readonly Field[]): string | null {
  if (field.name === "") return "Without a name it is not saved.";
  const first = fields.find(({ name }) => name === field.name);
  return first === field ? null : `Another one is named ${field.name}. This one is not saved.`;
}

/** The keywords that have no control, in a line; empty if there are none. */
export function describeRest(field: Field): string {
  const { default: preset, description, ...others } = field.keywords;
  const rest = {
    ...(typeof description !== "string" && { description }),
    ...others,
    ...(presetOf(field) === undefined && { default: preset }),
  };
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`)
    .join(", ");
}
