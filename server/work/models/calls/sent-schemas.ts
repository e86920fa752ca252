import type { JsonObject } from "@/server/base/json/json";
import type { Adaptation } from "@/server/work/models/errors/adaptation";
import type { OfferedTool } from "@/server/work/models/port";
import { geminiFilledSchema, geminiSchema } from "./gemini-schema";
import { plainParameters } from "./object-schema";
import { portableSchema, simpleSchema } from "./portable-schema";

type Known = Pick<Adaptation, "quirks" | "maxDescription">;

/** The schema of an answer as its server takes it. */
export function sentSchema(schema: JsonObject, { quirks }: Pick<Known, "quirks">): JsonObject {
  if (quirks.includes("geminiSchemas") || quirks.includes("filledObjects")) return geminiSchema(schema);
  return quirks.includes("simpleSchemas") ? simpleSchema(schema) : portableSchema(schema);
}

/** A tool as its server takes it. Without parameters if there are none, and it rejects empty objects. */
export function toSentTool({ name, description, parameters }: OfferedTool, known: Known) {
  const { quirks, maxDescription } = known;
  const plain = plainParameters(parameters);
  const schema = quirks.includes("filledObjects")
    ? geminiFilledSchema(plain)
    : { type: "object", properties: {}, ...sentSchema(plain, known) };
  return {
    name,
    description: description.length > maxDescription ? cut(description, maxDescription) : description,
    ...(schema.properties !== undefined && { parameters: schema }),
  };
}

const cut = (text: string, length: number) => `${text.slice(0, length - 1).toWellFormed()}…`;
