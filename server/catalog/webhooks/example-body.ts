import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";

/** Deeper schemas are left empty, so that the sample stays readable. */
const MAX_DEPTH = 4;

/**
 * A small sample body for a tool's parameters, with the required properties or else the first one. The schema may
 * still reject it.
 */
export function exampleBody(schema: JsonObject): JsonObject {
  const example = exampleOf(schema, 0);
  return isJsonObject(example) ? example : {};
}

/**
 * A small sample body for a message template: the properties that its expressions name, such as `body.order.id`. Without
 * any, a message.
 */
export function exampleForTemplate(template: string): JsonObject {
  const body: JsonObject = {};
  for (const [, expression = ""] of template.matchAll(/\{\{([^{}]*)\}\}/g)) {
    for (const [, path = ""] of expression.matchAll(/\bbody((?:\.[A-Za-z]\w*)+)/g)) {
      const names = path.slice(1).split(".");
      setText(body, names.slice(0, MAX_DEPTH));
    }
  }
  return Object.keys(body).length > 0 ? body : { message: "Hello" };
}

function setText(object: JsonObject, [name = "", ...rest]: string[]): void {
  const known = Object.hasOwn(object, name) ? object[name] : undefined;
  if (rest.length === 0) object[name] = known ?? "text";
  else {
    const inner = isJsonObject(known) ? known : {};
    object[name] = inner;
    setText(inner, rest);
  }
}

function exampleOf(schema: Json | undefined, depth: number): Json {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const listed = [schema.examples, schema.enum].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(listed)) return listed[0] ?? null;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return schema.format === "date-time" ? "2026-01-01T00:00:00Z" : "text";
    case "integer":
    case "number":
      return Math.max(1, typeof schema.minimum === "number" ? schema.minimum : 1);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return typeof schema.minItems === "number" && schema.minItems > 0
        ? [exampleOf(schema.items, depth + 1)]
        : [];
    default:
      return exampleObject(schema, depth);
  }
}

function exampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name): name is string => typeof name === "string")
    : [];
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], depth + 1)]));
}
