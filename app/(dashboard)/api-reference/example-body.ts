import { readJson, writeJson } from "@/server/base/json/json";
import { type Field, readSchema } from "../_schema/field";
import { controlOf, emptyOf, sampleOf } from "../_schema/value";

/** An input that fits a tool's parameters. Both are JSON; optional properties without a default are left out. */
export function exampleBody(parameters: string): string {
  return writeJson(exampleOf(readSchema(readJson(parameters))) ?? {}, 2);
}

function exampleOf(field: Field): unknown {
  const control = controlOf(field);
  if (control === "object") {
    const entries = field.fields.flatMap((each) => {
      const value = each.required ? exampleOf(each) : sampleOf(each);
      return value === undefined ? [] : [[each.name, value] as const];
    });
    return Object.fromEntries(entries);
  }
  const { minimum } = field.keywords;
  const number = typeof minimum === "number" ? minimum : 1;
  return sampleOf(field) ?? (control === "text" ? "text" : control === "number" ? number : emptyOf(field));
}
