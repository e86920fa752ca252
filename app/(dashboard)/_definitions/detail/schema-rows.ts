import { formatPlural } from "@/app/_ui/figures/format";
import { writeJson } from "@/server/base/json/json";
import { type Field, fieldsWithin, valuesOf } from "../../_schema/field";
import { controlOf, hintOf } from "../../_schema/value";

/** One property of a schema. `path` names it from the root: `customer.email`, `articles[].price`. */
export type SchemaRow = {
  path: string;
  type: string;
  required: boolean;
  description: string;
  rules: string;
};

const MOST_ROWS = 200;

/** The properties of a schema and, below each, those of the objects and lists within. */
export function rowsOf(root: Field): SchemaRow[] {
  return fieldsWithin(root)
    .slice(0, MOST_ROWS)
    .map(({ path, field }) => ({
      path,
      type: typeOf(field),
      required: field.required,
      description: hintOf(field) ?? "",
      rules: rulesOf(field),
    }));
}

/** In words: `text`, `whole number`, `list of numbers`. */
function typeOf(field: Field): string {
  const { type, items, keywords } = field;
  switch (controlOf(field)) {
    case "text":
      return typeof keywords.format === "string" ? keywords.format : "text";
    case "number":
      return type === "integer" ? "whole number" : "number";
    case "boolean":
      return "true or false";
    case "choice":
      return "choice";
    case "list": {
      const kind = items === null ? "json" : controlOf(items);
      return items === null || kind === "json" || kind === "boolean" ? "list" : `list of ${typeOf(items)}s`;
    }
    case "object":
      return "object";
    case "json":
      return "any";
  }
}

const BOUNDS: [key: string, describe: (bound: unknown) => string][] = [
  ["minimum", (bound) => `at least ${bound}`],
  ["exclusiveMinimum", (bound) => `more than ${bound}`],
  ["maximum", (bound) => `at most ${bound}`],
  ["exclusiveMaximum", (bound) => `less than ${bound}`],
  ["minLength", (bound) => `at least ${formatPlural(Number(bound), "character")}`],
  ["maxLength", (bound) => `at most ${formatPlural(Number(bound), "character")}`],
  ["minItems", (bound) => `at least ${formatPlural(Number(bound), "item")}`],
  ["maxItems", (bound) => `at most ${formatPlural(Number(bound), "item")}`],
  ["pattern", (bound) => `matches ${bound}`],
];

function rulesOf(field: Field): string {
  const choices = valuesOf(field.items ?? field);
  const of = new Map<string, unknown>(Object.entries(field.keywords));
  return [
    choices === null ? null : choices.map((value) => writeJson(value)).join(", "),
    ...BOUNDS.map(([key, describe]) => (of.has(key) ? describe(of.get(key)) : null)),
    of.has("default") ? `default ${writeJson(of.get("default"))}` : null,
  ]
    .filter((rule) => rule !== null)
    .join(", ");
}
