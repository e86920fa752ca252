import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { DEFAULT_PRICES } from "@/server/base/models/price-list";
import { MAX_STEP_OUTPUT_BYTES } from "@/server/contract/sizes";
import type { FunctionDefinition } from "@/server/work/functions/core/define";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import { modelSettings } from "@/server/work/models/settings";

/** Codes that every function may fail with, beside those of its own `errors`. */
export const COMMON_ERRORS = {
  invalid_input: "The input does not match the function's schema. The call is not retried.",
  timeout: "The call takes longer than its time limit.",
  input_too_large: "The inputs of a tool run's calls are larger than 16 MiB together.",
  output_too_large: "The output exceeds a size limit of steps.",
  failed: "The call fails for another reason; the message names it.",
} as const;

/** docs/functions.md, generated from the registry. */
export function functionsGuide(): string {
  const definitions = [...listFunctions()].sort((one, other) => one.name.localeCompare(other.name));
  return `# Functions

<!-- Generated from server/work/functions by \`npm run docs:generate\`. Do not edit. -->

A tool's step calls a built-in function with \`uses\`. An agent lists functions in \`functions\`, and
the model decides when to call them. See [Definition files](definition-files.md).

- With side effects: ${linksTo(definitions.filter(({ hasSideEffects }) => hasSideEffects))}
- Without: ${linksTo(definitions.filter(({ hasSideEffects }) => !hasSideEffects))}

All functions:

- Inputs with \`?\` are optional. \`string (200)\` is a string of at most 200 characters.
- A call costs one action, ${DEFAULT_PRICES.action} credits unless the [price list](configuration-files.md#price_list) sets
  another price. Retries are not counted.
- After a crash, a call in progress is repeated, with the same idempotency key if it has side effects.
- Beyond ${MAX_STEP_OUTPUT_BYTES / 1024 ** 2} MiB of output, an agent gets a preview, and a tool's step fails.
- In a tool, a failed call fails the step (see \`retries\` and \`onError\`). In an agent, the model gets
  \`{"error": "…"}\` and continues.

**Errors** of all functions:

${errorList(COMMON_ERRORS)}

${definitions.map(section).join("\n")}`;
}

function linksTo(definitions: readonly FunctionDefinition[]): string {
  return definitions.map(({ name }) => `[\`${name}\`](#${name})`).join(", ");
}

function section(definition: FunctionDefinition): string {
  const { name, description, errors, limits = [], callsModels, timeoutMs, example } = definition;
  const { secretFields = [] } = definition;
  const facts = [
    ...(callsModels ? ["**Price**: one action, and the tokens of its model calls."] : []),
    `**Limits**: ${[seconds(timeoutMs), ...limits].join("; ")}.`,
    ...(secretFields.length === 0
      ? []
      : [`**[Secrets](secrets.md)** in ${secretFields.map((field) => `\`${field}\``).join(", ")}.`]),
  ];
  return `## ${name}

${description}

**Input**

${fieldList(inputSchemaOf(definition), true)}

**Output**

${outputText(outputSchemaOf(definition))}

${facts.join("\n\n")}
${Object.keys(errors).length === 0 ? "" : `\n**Errors**\n\n${errorList(errors)}\n`}
**Example**

\`\`\`json
${jsonText(example.input)}
\`\`\`

returns

\`\`\`json
${jsonText(example.output)}
\`\`\`
`;
}

function jsonText(value: unknown): string {
  const line = JSON.stringify(value);
  if (line.length <= 100 || typeof value !== "object" || value === null || Array.isArray(value)) return line;
  const fields = Object.entries(value).map(
    ([key, part]) => `  ${JSON.stringify(key)}: ${JSON.stringify(part)}`,
  );
  return `{\n${fields.join(",\n")}\n}`;
}

function errorList(errors: Readonly<Record<string, string>>): string {
  return Object.entries(errors)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join("\n");
}

function seconds(ms: number): string {
  if (ms >= 3_600_000) return `${ms / 3_600_000} hours`;
  return ms === 1000 ? "1 second" : `${ms / 1000} seconds`;
}

function outputText(schema: JsonObject): string {
  if (isJsonObject(schema.properties)) return fieldList(schema, false);
  return `${typeOf(schema)}: ${textOf(schema.description)}`;
}

function fieldList(schema: JsonObject, isInput: boolean): string {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const lines: string[] = [];
  const settings: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const field = isJsonObject(property) ? property : {};
    const label = isInput && !required.includes(name) ? `\`${name}\`?` : `\`${name}\``;
    if (!(name in modelSettings.shape))
      lines.push(`- ${label} ${typeOf(field)}: ${textOf(field.description)}`);
    else settings.push(Array.isArray(field.enum) ? `${label} (${typeOf(field)})` : label);
  }
  if (settings.length > 0)
    lines.push(`- ${settings.join(", ")}: The [settings of agents](definition-files.md#agent).`);
  return lines.join("\n");
}

function textOf(description: Json | undefined): string {
  return typeof description === "string" ? description : "";
}

function typeOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return "any JSON";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  for (const branches of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(branches)) return [...new Set(branches.map(typeOf))].join(" or ");
  }
  if (typeof schema.maxLength === "number") return `string (${schema.maxLength})`;
  if (schema.type === "array") return `array of ${typeOf(schema.items)}`;
  if (schema.type === "object" && isJsonObject(schema.additionalProperties)) {
    return `object of ${typeOf(schema.additionalProperties)}`;
  }
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  return typeof schema.type === "string" ? schema.type : "any JSON";
}

function outputSchemaOf({ output }: FunctionDefinition): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(output, { io: "output", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(schema));
}
