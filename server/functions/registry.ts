import { z } from "zod";
import { calculate } from "@/server/functions/calculate";
import { currentTime } from "@/server/functions/current-time";
import type { FunctionDefinition } from "@/server/functions/define";
import { generateText } from "@/server/functions/generate-text";
import { httpRequest } from "@/server/functions/http-request";
import { transformJson } from "@/server/functions/transform-json";
import type { JsonObject } from "@/server/json";

/** Every function there is: a new one is a file beside this one and a line here. */
const FUNCTIONS: readonly FunctionDefinition[] = [
  calculate,
  currentTime,
  generateText,
  httpRequest,
  transformJson,
];

const byName: ReadonlyMap<string, FunctionDefinition> = new Map(
  FUNCTIONS.map((definition) => [definition.name, definition]),
);

/** All functions, by name. */
export function listFunctions(): readonly FunctionDefinition[] {
  return FUNCTIONS;
}

/** The function of that name, if there is one. */
export function findFunction(name: string): FunctionDefinition | undefined {
  return byName.get(name);
}

const schemas = new Map<string, JsonObject>();
const asJsonObject = z.custom<JsonObject>((value) => typeof value === "object" && value !== null);

/** The JSON Schema of a function's input, as models and the documentation see it. */
export function inputSchemaOf(definition: FunctionDefinition): JsonObject {
  const known = schemas.get(definition.name);
  if (known !== undefined) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(definition.input, { io: "input", unrepresentable: "any" });
  const plain = asJsonObject.parse(JSON.parse(JSON.stringify(schema)));
  schemas.set(definition.name, plain);
  return plain;
}
