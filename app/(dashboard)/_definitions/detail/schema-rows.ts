import { formatPlural } from "@/app/_ui/figures/format";
import { readField } from "../../_run/schema-value";

/** One property of a schema. `path` names it from the root: `customer.email`, `articles[].price`. */
export type SchemaRow = {
  path: string;
  type: string;
  required: boolean;
  description: string;
  /** Default, choices and bounds in words; may be empty. */
  rules: string;
};

const MOST_ROWS = 200;

/** The properties of a schema and, below each, those of the objects and lists within. */
export function rowsOf(schema: unknown): SchemaRow[] {
  return rowsWithin(schema, { prefix: "", depth: 0 }).slice(0, MOST_ROWS);
}

function rowsWithin(schema: unknown, { prefix, depth }: { prefix: string; depth: number }): SchemaRow[] {
  const field = readField(schema, depth);
  if (field.kind === "list") return rowsWithin(field.items, { prefix: `${prefix}[]`, depth: depth + 1 });
  if (field.kind !== "object") return [];
  return field.properties.flatMap(({ name, hint, required, schema: of }) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const row = { path, type: typeOf(of), required, description: hint ?? "", rules: rulesOf(of) };
    return [row, ...rowsWithin(of, { prefix: path, depth: depth + 1 })];
  });
}

/** The type in words: `text`, `whole number`, `list of numbers`. */
function typeOf(schema: unknown): string {
  const field = readField(schema);
  switch (field.kind) {
    case "text":
      return field.format ?? "text";
    case "number":
      return field.integer ? "whole number" : "number";
    case "boolean":
      return "true or false";
    case "choice":
      return "choice";
    case "list": {
      const { kind } = readField(field.items);
      return kind === "json" || kind === "boolean" ? "list" : `list of ${typeOf(field.items)}s`;
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

function rulesOf(schema: unknown): string {
  const field = readField(schema);
  const choices = field.kind === "list" ? readField(field.items) : field;
  const of = new Map<string, unknown>(Object.entries(schema ?? {}));
  return [
    choices.kind === "choice" ? choices.values.map((value) => JSON.stringify(value)).join(", ") : null,
    ...BOUNDS.map(([key, describe]) => (of.has(key) ? describe(of.get(key)) : null)),
    of.has("default") ? `default ${JSON.stringify(of.get("default"))}` : null,
  ]
    .filter((rule) => rule !== null)
    .join(", ");
}
