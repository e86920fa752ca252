import { z } from "zod";
import { KEY_SCOPES, type KeyScope } from "@/server/auth/actor";
import { v1Router } from "./v1";

/** One REST operation, as a procedure's metadata declares it. */
export type Operation = {
  method: "GET" | "POST";
  /** Path template, e.g. `/v1/agents/run/{agentId}`. */
  path: string;
  tag: string;
  summary: string;
  scope: KeyScope;
  limit: "starts" | "reads";
  /** Path of the procedure, e.g. `agents.run`. */
  operationId: string;
  /** Schemas of the path parameters, by name. */
  parameters: Record<string, z.ZodType>;
  body: z.ZodType | undefined;
  output: z.ZodType;
};

const zodType = z.custom<z.ZodType>((value) => value instanceof z.ZodType);
const zodObject = z.custom<z.ZodObject<Record<string, z.ZodType>>>((value) => value instanceof z.ZodObject);
const declaration = z.object({
  meta: z.object({
    openapi: z.object({
      method: z.enum(["GET", "POST"]),
      path: z.string(),
      tags: z.tuple([z.string()]),
      summary: z.string(),
      scope: z.enum(KEY_SCOPES),
      limit: z.enum(["starts", "reads"]),
    }),
  }),
  inputs: z.tuple([zodObject]),
  output: zodType,
});

/** tRPC types its record of procedures as nested, yet keeps it flat: `agents.run` → procedure. */
const flatProcedures = z.record(
  z.string(),
  z.custom<{ _def: object }>((value) => typeof value === "function" && "_def" in value),
);

/** The operations under `/v1`, from the procedures' metadata. The REST handler routes with them. */
export function listOperations(): Operation[] {
  return Object.entries(flatProcedures.parse(v1Router._def.procedures)).map(([operationId, { _def }]) => {
    const { meta, inputs, output } = declaration.parse(_def);
    const { body, ...parameters } = inputs[0].shape;
    const { tags, ...openapi } = meta.openapi;
    return { ...openapi, tag: tags[0], operationId, parameters, body, output };
  });
}
