import { z } from "zod";
import { calculate } from "@/server/functions/calculate";
import { currentTime } from "@/server/functions/current-time";
import type { FunctionDefinition } from "@/server/functions/define";
import { extractText } from "@/server/functions/extract-text";
import { generateText } from "@/server/functions/generate-text";
import { getValue } from "@/server/functions/get-value";
import { httpRequest } from "@/server/functions/http-request";
import { parseCsv } from "@/server/functions/parse-csv";
import { runAgent } from "@/server/functions/run-agent";
import { runJavascript } from "@/server/functions/run-javascript";
import { runTool } from "@/server/functions/run-tool";
import { sendEmail } from "@/server/functions/send-email";
import { setValue } from "@/server/functions/set-value";
import { transformJson } from "@/server/functions/transform-json";
import { waitFunction } from "@/server/functions/wait";
import type { JsonObject } from "@/server/json/json";

/** The list of all functions. To add one, create a file beside this one and add a line here. */
const FUNCTIONS: readonly FunctionDefinition[] = [
  calculate,
  currentTime,
  extractText,
  generateText,
  getValue,
  httpRequest,
  parseCsv,
  runAgent,
  runJavascript,
  runTool,
  sendEmail,
  setValue,
  transformJson,
  waitFunction,
];

const byName: ReadonlyMap<string, FunctionDefinition> = new Map(
  FUNCTIONS.map((definition) => [definition.name, definition]),
);

export function listFunctions(): readonly FunctionDefinition[] {
  return FUNCTIONS;
}

export function findFunction(name: string): FunctionDefinition | undefined {
  return byName.get(name);
}

const inputSchemas = new WeakMap<FunctionDefinition, JsonObject>();

/** The JSON Schema of a function's input, as models and the documentation see it. Made once. */
export function inputSchemaOf(definition: FunctionDefinition): JsonObject {
  const known = inputSchemas.get(definition);
  if (known !== undefined) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(definition.input, { io: "input", unrepresentable: "any" });
  const document: JsonObject = JSON.parse(JSON.stringify(schema));
  inputSchemas.set(definition, document);
  return document;
}
