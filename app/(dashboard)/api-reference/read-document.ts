import { z } from "zod";

/** Reads our OpenAPI document into what the reference page shows. */

/** A field of a body, or a parameter. */
export type Field = { name: string; type: string; required: boolean; description: string };
type Parameter = Field & { in: "path" | "header" | "query" };
export type Operation = {
  id: string;
  tag: string;
  method: "GET" | "POST";
  path: string;
  summary: string;
  description: string;
  /** Whether the call needs an API key. */
  keyed: boolean;
  parameters: Parameter[];
  /** The request's body; `example` is JSON. */
  body: { required: boolean; fields: Field[]; example: string } | null;
  response: { fields: Field[]; example: string };
  errors: { status: string; description: string }[];
};

const media = z.object({ schema: z.unknown().optional(), example: z.unknown().optional() });
const json = z.object({ "application/json": media });
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
  requestBody: z.object({ required: z.boolean().default(false), content: json }).optional(),
  responses: z.record(
    z.string(),
    z.union([z.object({ $ref: z.string() }), z.object({ description: z.string(), content: json })]),
  ),
});
const document = z.object({
  paths: z.record(z.string(), z.object({ get: operation.optional(), post: operation.optional() })),
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), z.object({ description: z.string() })),
  }),
});
type Document = z.output<typeof document>;

/** The operations of a document in its own order, by tag. Throws if it is not one of ours. */
export function readOperations(openApi: unknown): Operation[] {
  const parsed = document.parse(openApi);
  return Object.entries(parsed.paths).flatMap(([path, { get, post }]) => [
    ...(get ? [readOperation(parsed, { method: "GET", path, of: get })] : []),
    ...(post ? [readOperation(parsed, { method: "POST", path, of: post })] : []),
  ]);
}

function readOperation(
  within: Document,
  { method, path, of }: { method: Operation["method"]; path: string; of: z.output<typeof operation> },
): Operation {
  const { "200": success, ...others } = of.responses;
  const ok = success !== undefined && "content" in success ? success.content["application/json"] : null;
  const sent = of.requestBody?.content["application/json"];
  return {
    id: of.operationId,
    tag: of.tags[0],
    method,
    path,
    summary: of.summary,
    description: of.description,
    keyed: of.security === undefined || of.security.length > 0,
    parameters: of.parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      type: typeOf(within, schema),
    })),
    body:
      sent === undefined
        ? null
        : {
            required: of.requestBody?.required ?? false,
            fields: fieldsOf(within, sent.schema),
            example: pretty(sent.example),
          },
    response: { fields: fieldsOf(within, ok?.schema), example: pretty(ok?.example) },
    errors: Object.entries(others).map(([status, response]) => ({
      status,
      description:
        "$ref" in response
          ? (within.components.responses[lastOf(response.$ref)]?.description ?? "")
          : response.description,
    })),
  };
}

const pretty = (example: unknown) => JSON.stringify(example ?? {}, null, 2);
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

/** The schema behind a reference; its own description counts before the component's. */
function resolve(within: Document, given: unknown): z.output<typeof schema> {
  const own = schema.parse(given ?? {});
  if (own.$ref === undefined) return own;
  const target = schema.parse(within.components.schemas[lastOf(own.$ref)] ?? {});
  return { ...target, description: own.description || target.description };
}

/** Deeper objects are named by their type only. */
const MAX_DEPTH = 3;

/** The fields of an object, with those of nested objects: `steps[].tokenUsage.inputTokens`. */
function fieldsOf(
  within: Document,
  given: unknown,
  { before = "", depth = 1 }: { before?: string; depth?: number } = {},
): Field[] {
  const object = resolve(within, given);
  return Object.entries(object.properties).flatMap(([key, value]) => {
    const found = resolve(within, value);
    const name = `${before}${key}`;
    const line: Field = {
      name,
      type: typeOf(within, value),
      required: object.required.includes(key),
      description: found.description,
    };
    if (depth === MAX_DEPTH) return [line];
    const isList = found.items !== undefined;
    return [
      line,
      ...fieldsOf(within, isList ? found.items : value, {
        before: `${name}${isList ? "[]" : ""}.`,
        depth: depth + 1,
      }),
    ];
  });
}

/** A short name of a type: `string (uuid)`, `"Pending" | "Running"`, `list of object`. */
function typeOf(within: Document, given: unknown): string {
  const found = resolve(within, given);
  if (found.enum) return found.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.anyOf) return found.anyOf.map((each) => typeOf(within, each)).join(" | ");
  if (found.items !== undefined) return `list of ${typeOf(within, found.items)}`;
  const names = [found.type ?? "any"].flat().join(" | ");
  return found.format ? `${names} (${found.format})` : names;
}
