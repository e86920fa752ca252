import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { definitionFile } from "@/server/catalog/definition-file/definition-file";
import { agentDefinition } from "@/server/catalog/definitions";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import { callStepSchema, workflowStep } from "@/server/work/workflow/definition";

/** May replace any value of a function's input. */
const TEMPLATE: JsonObject = { type: "string", pattern: "\\{\\{" };
const NAMES = listFunctions().map(({ name }) => name);

/** The JSON Schema of definition files for editors. It accepts what `apply` accepts; `apply` finds more issues. */
export function definitionFileSchema(): JsonObject {
  const schema = z.toJSONSchema(definitionFile, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const { properties } = jsonSchema;
      if (properties === undefined) return;
      if (zodSchema === callStepSchema || zodSchema === workflowStep) {
        properties.uses = { description: "The function to call.", enum: NAMES };
        jsonSchema.allOf = NAMES.map((name) => ({
          if: { properties: { uses: { const: name } }, required: ["uses"] },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
          then: { properties: { with: { $ref: `#/$defs/${name}` } } },
        }));
      }
      if (zodSchema === agentDefinition && typeof properties.functions === "object")
        properties.functions.items = { enum: NAMES };
    },
  });
  const document = toObject(JSON.parse(JSON.stringify(schema)));
  const inputs = listFunctions().map((definition) => {
    const input = toObject(allowTemplates(inputSchemaOf(definition)));
    return [definition.name, { description: definition.description, ...input, additionalProperties: false }];
  });
  const known = isJsonObject(document.$defs) ? document.$defs : {};
  return {
    ...document,
    title: "Stepwell definition file",
    patternProperties: { "^x-": {} },
    $defs: { ...known, ...Object.fromEntries(inputs) },
  };
}

function toObject(value: Json): JsonObject {
  if (!isJsonObject(value)) throw new Error("A schema is not an object.");
  return value;
}

function allowTemplates(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const { description, properties, items, additionalProperties, anyOf, ...rest } = schema;
  const inner: JsonObject = { ...rest };
  if (isJsonObject(properties)) {
    const entries = Object.entries(properties).map(([name, value]) => [name, orTemplate(value)]);
    inner.properties = Object.fromEntries(entries);
  }
  if (items !== undefined) inner.items = orTemplate(items);
  if (additionalProperties !== undefined) inner.additionalProperties = orTemplate(additionalProperties);
  if (Array.isArray(anyOf)) inner.anyOf = anyOf.map(allowTemplates);
  return { ...(description !== undefined && { description }), ...inner };
}

function orTemplate(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const { description, ...rest } = schema;
  const allowed = { anyOf: [allowTemplates(rest), TEMPLATE] };
  return description === undefined ? allowed : { description, ...allowed };
}
