import type { Choices, FunctionChoice } from "@/server/catalog/edit-definition";
import { emptyOf, readField } from "../_run/schema-value";
import type { Callable } from "./tool/catalogue";

/** What a new step can call: each function, and each of the organization's tools. */
export function listCallables(functions: readonly FunctionChoice[], tools: Choices["tools"]): Callable[] {
  return [
    ...functions.map(
      ({ name, description, input }): Callable => ({
        name,
        description,
        group: "Functions",
        id: name,
        step: { uses: name, with: requiredInputs(JSON.parse(input)) },
      }),
    ),
    ...tools.map(
      ({ slug, name, description }): Callable => ({
        name: slug,
        description: description || name,
        group: "Tools",
        id: slug.replaceAll("-", "_").replace(/^\d/, "_$&"),
        step: { uses: "run_tool", with: { tool: slug, input: {} } },
      }),
    ),
  ];
}

/** The required inputs of a function, empty. */
function requiredInputs(schema: unknown): Record<string, unknown> {
  const field = readField(schema);
  if (field.kind !== "object") return {};
  return Object.fromEntries(
    field.properties
      .filter(({ required }) => required)
      .map(({ name, schema }) => [name, emptyOf(schema) ?? ""]),
  );
}
