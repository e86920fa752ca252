import { readField, sampleOf } from "../_run/schema-value";

/** An input that fits a tool's parameters. Both are JSON; optional properties without a default are left out. */
export function exampleBody(parameters: string): string {
  return JSON.stringify(exampleOf(JSON.parse(parameters)) ?? {}, null, 2);
}

function exampleOf(schema: unknown): unknown {
  const field = readField(schema);
  if (field.kind === "object") {
    const entries = field.properties.flatMap(({ name, required, schema: property }) => {
      const value = required ? exampleOf(property) : sampleOf(property);
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(entries);
  }
  const sample = sampleOf(schema);
  if (sample !== undefined) return sample;
  if (field.kind === "text") return "text";
  if (field.kind === "number") return field.min ?? 1;
  if (field.kind === "boolean") return false;
  if (field.kind === "choice") return field.values[0];
  return field.kind === "list" ? [] : undefined;
}
