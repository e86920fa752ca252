import { isExactNumber, isWholeNumber } from "@/server/base/json/exact-number";
import { writeJson } from "@/server/base/json/json";
import { FIELD_TYPES, type Field, type FieldType, newField } from "./field";

/** Edits of the fields of a schema, and the schema that they make. */

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

/** The reason why a schema cannot be designed as fields, as a sentence; null if it can. */
export function reasonOf(root: Field): string | null {
  const first = ({ reason, fields, items }: Field): string | null =>
    [reason, ...fields.map(first), items === null ? null : first(items)].find((each) => each !== null) ??
    null;
  const isAny = root.type !== "object" && root.reason === null;
  return isAny ? "The schema does not describe an object with properties." : first(root);
}

function hasControl(field: Field, preset: unknown): boolean {
  const { type } = field;
  if (type === "text") return typeof preset === "string" && preset !== "" && !preset.includes("\n");
  if (type === "integer") return isWholeNumber(preset);
  if (type === "number") return typeof preset === "number" || isExactNumber(preset);
  if (type === "choice") return choicesOf(field).some((each) => each === preset);
  return type === "boolean" && typeof preset === "boolean";
}

/** The field's default, if the form has a control for it. */
export function presetOf(field: Field): unknown {
  const { default: preset } = field.keywords;
  return hasControl(field, preset) ? preset : undefined;
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

function contentOf(field: Field): Record<string, unknown> {
  const { type, fields } = field;
  if (type === "object") {
    if (field.isOpen && fields.length === 0) return {};
    const named = fields.filter((each) => findNameIssue(each, fields) === null);
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

export const choicesOf = ({ choices }: Field) =>
  [...new Set(choices.map((each) => each.trim()))].filter((each) => each !== "");

/** The reason why the field is not part of the schema yet; null: it is. */
export function findNameIssue(field: Field, fields: readonly Field[]): string | null {
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
    .map(([keyword, value]) => `${keyword} ${writeJson(value)}`)
    .join(", ");
}
