import type { JsonObject } from "@/server/base/json/json";
import type { Quirk } from "@/server/work/models/errors/quirks";
import { geminiFilledSchema, geminiSchema } from "./gemini-schema";
import { plainParameters } from "./object-schema";
import { portableSchema, simpleSchema } from "./portable-schema";

type Known = { quirks: readonly Quirk[] };

/** The schema of an answer as its server takes it. */
export function sentSchema(schema: JsonObject, { quirks }: Known): JsonObject {
  if (quirks.includes("geminiSchemas") || quirks.includes("filledObjects")) return geminiSchema(schema);
  return quirks.includes("simpleSchemas") ? simpleSchema(schema) : portableSchema(schema);
}

/** The parameters of a tool as their server takes them. Undefined: it rejects an object without properties. */
export function sentParameters(parameters: JsonObject, known: Known): JsonObject | undefined {
  const plain = plainParameters(parameters);
  if (!known.quirks.includes("filledObjects"))
    return { type: "object", properties: {}, ...sentSchema(plain, known) };
  const filled = geminiFilledSchema(plain);
  return filled.properties === undefined ? undefined : filled;
}
