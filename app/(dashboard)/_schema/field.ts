import { isJsonObject, writeJson } from "@/server/base/json/json";

/**
 * A JSON Schema as a tree of fields, for forms and editors. Keywords without a control stay, so that an edit loses
 * nothing.
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
  name: string;
  required: boolean;
  type: FieldType;
  /** Without those that the other members express. */
  keywords: Readonly<Record<string, unknown>>;
  /** As typed. */
  choices: readonly string[];
  fields: readonly Field[];
  isOpen: boolean;
  /** Null unless the field is a `list`. */
  items: Field | null;
  /** A sentence that says why the schema cannot be designed as fields; null if it can. */
  reason: string | null;
};

/** Deeper fields would be too narrow. */
const MAX_DEPTH = 4;

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
  return {
    name,
    required: false,
    type: "text",
    keywords: {},
    choices: [],
    fields: [],
    isOpen: false,
    items: null,
    reason: null,
  };
}

export const ANY: Field = { ...newField(), type: "any" };

/** The fields below one, each after its object or list, with paths such as `customer.email` and `articles[].price`. */
export function fieldsWithin(field: Field, path = ""): { path: string; field: Field }[] {
  if (field.items !== null) return fieldsWithin(field.items, `${path}[]`);
  return field.fields.flatMap((each) => {
    const own = path === "" ? each.name : `${path}.${each.name}`;
    return [{ path: own, field: each }, ...fieldsWithin(each, own)];
  });
}

/** The fields of a schema. What has no field of its own is a field of any type, with the reason. */
export function readSchema(schema: unknown): Field {
  return readAt(schema, { name: "", path: "The schema", required: false, depth: 0 });
}

type At = { name: string; path: string; required: boolean; depth: number };

function readAt(schema: unknown, { name, path, required, depth }: At): Field {
  const field = { ...newField(name), required };
  if (!isJsonObject(schema))
    return { ...field, type: "any", reason: `${path} is not an object of keywords.` };
  const { type: _, ...keywords } = schema;
  const unshown = (why: string): Field => ({
    ...field,
    type: "any",
    keywords: schema,
    reason: `${path} ${why}.`,
  });
  if (depth > MAX_DEPTH) return unshown(`is nested deeper than ${MAX_DEPTH} levels`);
  const type = typeOf(schema);
  if (type === undefined) {
    return unshown(
      Array.isArray(schema.type) ? "has several types" : `has the type ${writeJson(schema.type)}`,
    );
  }
  const keyword = UNSHOWN.find((each) => Object.hasOwn(schema, each));
  const reason = keyword === undefined ? null : `${path} uses ${keyword}.`;
  const inner = { required: false, depth: depth + 1 };
  if (type === "object") {
    const { properties = {}, required: names = [], ...others } = keywords;
    if (!isJsonObject(properties)) return unshown("has invalid properties");
    const fields = Object.entries(properties).map(([each, of]) =>
      readAt(of, {
        ...inner,
        name: each,
        path: quote(path, each, depth),
        required: Array.isArray(names) && names.includes(each),
      }),
    );
    return {
      ...field,
      type,
      keywords: others,
      fields,
      isOpen: keywords.properties === undefined,
      reason: reason ?? reasonOfRequired(names, { path, properties }),
    };
  }
  if (type === "list") {
    const { items = {}, ...others } = keywords;
    const of = readAt(items, { ...inner, name: "", path: `An item of ${path.replace("The", "the")}` });
    return { ...field, type, keywords: others, items: of, reason };
  }
  if (type === "choice") {
    const { enum: choices, ...others } = keywords;
    return {
      ...field,
      type,
      keywords: others,
      choices: Array.isArray(choices) ? choices.map(String) : [],
      reason,
    };
  }
  return { ...field, type, keywords, reason };
}

function reasonOfRequired(
  names: unknown,
  { path, properties }: { path: string; properties: object },
): string | null {
  if (!Array.isArray(names)) return `${path} has invalid properties.`;
  const unknown = names.find((each) => typeof each !== "string" || !Object.hasOwn(properties, each));
  return unknown === undefined ? null : `${path} requires ${writeJson(unknown)}, which is not a property.`;
}

const quote = (path: string, name: string, depth: number) =>
  depth === 0 ? `"${name}"` : `${path.replace(/"$/, "")}.${name}"`;

function typeOf({ type, enum: choices, properties }: Record<string, unknown>): FieldType | undefined {
  const areTexts = Array.isArray(choices) && choices.every((each) => typeof each === "string");
  if (areTexts && choices.length > 0 && (type === "string" || type === undefined)) return "choice";
  if (type === undefined) return isJsonObject(properties) ? "object" : "any";
  return Object.keys(FIELD_TYPES)
    .filter(isFieldType)
    .find((each) => FIELD_TYPES[each].of === type);
}

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

/** The only values that a field can have; null if it can have others. */
export function valuesOf({ type, choices, keywords }: Field): readonly Scalar[] | null {
  if (type === "choice") return choices;
  const { enum: values } = keywords;
  return Array.isArray(values) && values.length > 0 && values.every(isScalar) ? values : null;
}
