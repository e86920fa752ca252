import { z } from "zod";
import type { JsonObject } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import { calculate } from "@/server/work/functions/calculate";
import type { FunctionDefinition } from "@/server/work/functions/core/define";
import { currentTime } from "@/server/work/functions/current-time";
import { extractText } from "@/server/work/functions/extract-text";
import { generateText } from "@/server/work/functions/generate-text";
import { getValue } from "@/server/work/functions/get-value";
import { httpRequest } from "@/server/work/functions/http-request";
import { parseCsv } from "@/server/work/functions/parse-csv";
import { runAgent } from "@/server/work/functions/run-agent";
import { runJavascript } from "@/server/work/functions/run-javascript";
import { runTool } from "@/server/work/functions/run-tool";
import { sendEmail } from "@/server/work/functions/send-email";
import { setValue } from "@/server/work/functions/set-value";
import { transformJson } from "@/server/work/functions/transform-json";
import { waitFunction } from "@/server/work/functions/wait";

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

/** The JSON Schema of a function's output. Made once. */
export const outputSchemaOf = perOwner((definition: FunctionDefinition): JsonObject => {
  const { $schema: _, ...schema } = z.toJSONSchema(definition.output, {
    io: "output",
    unrepresentable: "any",
  });
  return JSON.parse(JSON.stringify(schema));
});
