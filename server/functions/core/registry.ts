import { z } from "zod";
import { calculate } from "@/server/functions/calculate";
import type { FunctionDefinition } from "@/server/functions/core/define";
import { currentTime } from "@/server/functions/current-time";
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
import { perOwner } from "@/server/per-owner";

/** The list of all functions. To add one, create a file in `server/functions` and add a line here. */
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

/** The JSON Schema of a function's input, as models and the documentation see it. Made once. */
export const inputSchemaOf = perOwner((definition: FunctionDefinition): JsonObject => {
  const { $schema: _, ...schema } = z.toJSONSchema(definition.input, { io: "input", unrepresentable: "any" });
  return JSON.parse(JSON.stringify(schema));
});
