import { isExactNumber } from "@/server/base/json/exact-number";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { type Field, valuesOf } from "./field";

/** The control for a field. `json`: a value that a form cannot show is edited as JSON. */
export function controlOf(field: Field) {
  if (valuesOf(field) !== null) return "choice";
  switch (field.type) {
    case "integer":
      return "number";
    case "object":
      return field.isOpen ? "json" : "object";
    case "any":
      return "json";
    default:
      return field.type;
  }
}

export const isLong = ({ keywords: { maxLength } }: Field) =>
  typeof maxLength === "number" && maxLength > 200;

export const titleOf = ({ name, keywords: { title } }: Field) => (typeof title === "string" ? title : name);

export const hintOf = ({ keywords: { description } }: Field) =>
  typeof description === "string" ? description : null;

/**
 * A value to start from, such as the schema's default or first example. Leaves out an optional object, because its
 * required properties would make it fail. Undefined: nothing to start from.
 */
export function sampleOf(field: Field): unknown {
  const declared = declaredStart(field);
  if (declared !== undefined) return declared;
  if (controlOf(field) !== "object") return undefined;
  const entries = field.fields.flatMap((each) => {
    const control = controlOf(each);
    const value =
      control === "object" && !each.required
        ? declaredStart(each)
        : (sampleOf(each) ??
          // `""` would be valid, but is rarely meant. It can be typed as JSON.
          (each.required && control !== "text" ? emptyOf(each) : undefined));
    return value === undefined ? [] : [[each.name, value] as const];
  });
  return Object.fromEntries(entries);
}

function declaredStart({ keywords: { default: preset, examples, const: only } }: Field): unknown {
  return [preset, Array.isArray(examples) ? examples[0] : undefined, only].find(
    (value) => value !== undefined,
  );
}

export function emptyOf(field: Field): unknown {
  switch (controlOf(field)) {
    case "text":
      return "";
    case "boolean":
      return false;
    case "choice":
      return valuesOf(field)?.[0];
    case "list":
      return [];
    case "object":
      return sampleOf(field) ?? {};
    default:
      return undefined;
  }
}

/** The number in a field, with the digits that a double cannot hold; undefined if the field is empty. */
export const numberIn = ({ value, valueAsNumber }: Pick<HTMLInputElement, "value" | "valueAsNumber">) =>
  value === "" ? undefined : (tryParseJson(value) ?? valueAsNumber);

/** The text of a number's field; empty for any other value. */
export const numberText = (value: unknown) =>
  typeof value === "number" || isExactNumber(value) ? String(value) : "";

/** A copy of an object with one property set, or without it if the value is undefined. */
export function withProperty(value: unknown, name: string, next: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = isJsonObject(value) ? value : {};
  if (next === undefined) return rest;
  // The order of properties stays, so that the JSON beside the form does not jump.
  if (isJsonObject(value) && name in value)
    return Object.fromEntries(Object.entries(value).map(([key, old]) => [key, key === name ? next : old]));
  return { ...rest, [name]: next };
}
