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

/** All functions, by name. */
export function listFunctions(): readonly FunctionDefinition[] {
  return FUNCTIONS;
}

/** The function of that name, if there is one. */
export function findFunction(name: string): FunctionDefinition | undefined {
  return byName.get(name);
}

const asJsonObject = z.custom<JsonObject>((value) => typeof value === "object" && value !== null);

/** Turns zod schemas into JSON Schemas, each once. */
function cachedSchemas(io: "input" | "output") {
  const known = new Map<string, JsonObject>();
  return (name: string, zod: z.ZodType): JsonObject => {
    const made = known.get(name);
    if (made !== undefined) return made;
    const { $schema: _, ...schema } = z.toJSONSchema(zod, { io, unrepresentable: "any" });
    const plain = asJsonObject.parse(JSON.parse(JSON.stringify(schema)));
    known.set(name, plain);
    return plain;
  };
}
const inputSchema = cachedSchemas("input");
const outputSchema = cachedSchemas("output");

/** The JSON Schema of a function's input, as models and the documentation see it. */
export function inputSchemaOf({ name, input }: FunctionDefinition): JsonObject {
  return inputSchema(name, input);
}

/** The JSON Schema of a function's output, as the documentation shows it. */
export function outputSchemaOf({ name, output }: FunctionDefinition): JsonObject {
  return outputSchema(name, output);
}
