import type { JsonObject } from "@/server/base/json/json";
import type { Quirk } from "@/server/work/models/errors/quirks";
import { plainParameters } from "./object-schema";
import { portableSchema, simpleSchema } from "./portable-schema";

/** The schema of an answer as its server takes it. */
export const sentSchema = (schema: JsonObject, { quirks }: { quirks: readonly Quirk[] }): JsonObject =>
  (quirks.includes("simpleSchemas") ? simpleSchema : portableSchema)(schema);

/** The parameters of a tool as their server takes them. */
export const sentParameters = (parameters: JsonObject, known: { quirks: readonly Quirk[] }): JsonObject => ({
  type: "object",
  properties: {},
  ...sentSchema(plainParameters(parameters), known),
});
