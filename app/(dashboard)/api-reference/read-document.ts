import { z } from "zod";

/** Reads our OpenAPI document into what the reference page shows. */

/** A field of a body, or a parameter. */
export type DocumentField = { name: string; type: string; required: boolean; description: string };
export type Operation = ReturnType<typeof readOperations>[number];

const media = z.object({ schema: z.unknown().optional(), example: z.unknown().optional() });
/** JSON, or a stream of events. */
const content = z.union([
  z.object({ "application/json": media }).transform((types) => types["application/json"]),
  z.object({ "text/event-stream": media }).transform((types) => types["text/event-stream"]),
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
const document = z.object({
  paths: z.record(z.string(), z.object({ get: operation.optional(), post: operation.optional() })),
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
    (["get", "post"] as const).flatMap((method) => {
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
          type: typeOf(schemas, schema),
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
  // Of several bodies, the first one is the usual one; the description says when another one comes.
  const usual = resolve(schemas, schema).anyOf?.[0] ?? schema;
  const text = typeof example === "string" ? example : JSON.stringify(example ?? {}, null, 2);
  return { fields: fieldsOf(schemas, usual), example: text };
}

const lastOf = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

const schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().default(""),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

/** The reference's own description wins over the component's. */
function resolve(schemas: Schemas, given: unknown): z.output<typeof schema> {
  const own = schema.parse(given ?? {});
  if (own.$ref === undefined) return own;
  const target = schema.parse(schemas[lastOf(own.$ref)] ?? {});
  return { ...target, description: own.description || target.description };
}

const MAX_DEPTH = 3;

/** With the fields of nested objects, such as `steps[].tokenUsage.inputTokens`. */
function fieldsOf(
  schemas: Schemas,
  given: unknown,
  { before = "", depth = 1 }: { before?: string; depth?: number } = {},
): DocumentField[] {
  const object = resolve(schemas, given);
  return Object.entries(object.properties).flatMap(([key, value]) => {
    const found = resolve(schemas, value);
    const name = `${before}${key}`;
    const line: DocumentField = {
      name,
      type: typeOf(schemas, value),
      required: object.required.includes(key),
      description: found.description,
    };
    if (depth === MAX_DEPTH) return [line];
    const isList = found.items !== undefined;
    return [
      line,
      ...fieldsOf(schemas, isList ? found.items : value, {
        before: `${name}${isList ? "[]" : ""}.`,
        depth: depth + 1,
      }),
    ];
  });
}

/** For example `string (uuid)`, `"Pending" | "Running"`, `list of object`. */
function typeOf(schemas: Schemas, given: unknown): string {
  const found = resolve(schemas, given);
  if (found.enum) return found.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.anyOf) return found.anyOf.map((each) => typeOf(schemas, each)).join(" | ");
  if (found.items !== undefined) return `list of ${typeOf(schemas, found.items)}`;
  const names = [found.type ?? "any"].flat().join(" | ");
  return found.format ? `${names} (${found.format})` : names;
}
