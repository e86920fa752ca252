import { z } from "zod";
import { isJsonObject } from "@/server/base/json/json";
import { EVENTS_TYPE, JSON_TYPE } from "@/server/contract/media-types";
import { FIELD_TYPES, type Field, fieldsWithin, readSchema, valuesOf } from "../_schema/field";
import { hintOf } from "../_schema/value";

/** Reads our OpenAPI document into what the reference page shows. */

export type DocumentField = { name: string; type: string; required: boolean; description: string };
export type Operation = ReturnType<typeof readOperations>[number];

const media = z.object({ schema: z.unknown().optional(), example: z.unknown().optional() });
const content = z.union([
  z.object({ [JSON_TYPE]: media }).transform((types) => types[JSON_TYPE]),
  z.object({ [EVENTS_TYPE]: media }).transform((types) => types[EVENTS_TYPE]),
]);
const operation = z.object({
  operationId: z.string(),
  tags: z.tuple([z.string()]),
  summary: z.string(),
  description: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.enum(["path", "header", "query"]),
        required: z.boolean().default(false),
        description: z.string().default(""),
        schema: z.unknown(),
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z
    .object({ "200": z.object({ content }) })
    .catchall(z.object({ $ref: z.string().default(""), description: z.string().optional() })),
});
const METHODS = ["get", "post", "patch", "delete"] as const;
const document = z.object({
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), operation)),
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), z.object({ description: z.string() })),
  }),
});
type Schemas = z.output<typeof document>["components"]["schemas"];

/** The operations of a document in its own order, by tag. Throws if it is not one of ours. */
export function readOperations(openApi: unknown) {
  const { paths, components } = document.parse(openApi);
  const { schemas, responses } = components;
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const of = methods[method];
      if (of === undefined) return [];
      const { "200": success, ...others } = of.responses;
      const { operationId, tags, summary, description, security, requestBody } = of;
      return {
        id: operationId,
        tag: tags[0],
        method: method.toUpperCase(),
        path,
        summary,
        description,
        keyed: security === undefined || security.length > 0,
        parameters: of.parameters.map(({ schema, ...parameter }) => ({
          ...parameter,
          type: typeOf(readSchema(inlined(schemas, schema))),
        })),
        body: requestBody === undefined ? null : readContent(schemas, requestBody.content),
        response: readContent(schemas, success.content),
        errors: Object.entries(others).map(([status, { $ref, description }]) => ({
          status,
          description: description ?? responses[lastOf($ref)]?.description ?? "",
        })),
      };
    }),
  );
}

function readContent(schemas: Schemas, { schema, example }: z.output<typeof content>) {
  const all = inlined(schemas, schema);
  // Of several bodies, the first one is the usual one; the description says when another one comes.
  const usual = isJsonObject(all) && Array.isArray(all.anyOf) ? all.anyOf[0] : all;
  const text = typeof example === "string" ? example : JSON.stringify(example ?? {}, null, 2);
  return { fields: fieldsWithin(readSchema(usual)).map(describeField), example: text };
}

function describeField({ path, field }: { path: string; field: Field }): DocumentField {
  return {
    name: path,
    type: typeOf(field),
    required: field.required,
    description: hintOf(field) ?? "",
  };
}

const lastOf = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

/** Our components do not refer to themselves. */
const MAX_DEPTH = 16;

/** A reference's own description wins. */
function inlined(schemas: Schemas, given: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new Error("The schemas of the OpenAPI document refer to themselves.");
  if (Array.isArray(given)) return given.map((each) => inlined(schemas, each, depth + 1));
  if (!isJsonObject(given)) return given;
  const { $ref, ...own } = given;
  const schema = typeof $ref === "string" ? { ...objectIn(schemas[lastOf($ref)]), ...own } : given;
  return Object.hasOwn(schema, "$ref")
    ? inlined(schemas, schema, depth + 1)
    : Object.fromEntries(
        Object.entries(schema).map(([key, each]) => [key, inlined(schemas, each, depth + 1)]),
      );
}

const objectIn = (value: unknown) => (isJsonObject(value) ? value : {});

function typeOf(field: Field): string {
  const { keywords, items, type } = field;
  const values = valuesOf(field) ?? (keywords.const === undefined ? null : [keywords.const]);
  if (values !== null) return values.map((each) => JSON.stringify(each)).join(" | ");
  if (Array.isArray(keywords.anyOf))
    return keywords.anyOf.map((each) => typeOf(readSchema(each))).join(" | ");
  if (items !== null) return `list of ${typeOf(items)}`;
  const names = [keywords.type ?? FIELD_TYPES[type].of ?? "any"].flat().join(" | ");
  return typeof keywords.format === "string" ? `${names} (${keywords.format})` : names;
}
