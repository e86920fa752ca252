import type { components, operations } from "./schema.js";

/** Types of the calls, from the types of the OpenAPI document. */

export type Schemas = components["schemas"];
export type OperationId = keyof operations;

type JsonAnswer = { responses: { 200: { content: { "application/json": unknown } } } };

/** Operations that answer with JSON. The events of a run are read with its handle. */
export type CallId = { [Id in OperationId]: operations[Id] extends JsonAnswer ? Id : never }[OperationId];

export type Answer<Id extends CallId> = operations[Id] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

/** Operations that answer with YAML if \`format\` asks for it. */
export type TextId = {
  [Id in CallId]: operations[Id] extends {
    responses: { 200: { content: { "application/yaml": string } } };
  }
    ? Id
    : never;
}[CallId];
export type TextInput<Id extends TextId> = { query: { format: "yaml" }; headers?: Headers<Id> };

type Parameters<Id extends OperationId> = operations[Id]["parameters"];
type Headers<Id extends OperationId> = Omit<NonNullable<Parameters<Id>["header"]>, "If-None-Match">;
/** `metadata.KEY` stands for any name. */
type Query<Id extends OperationId> = "metadata.KEY" extends keyof NonNullable<Parameters<Id>["query"]>
  ? { query?: Omit<NonNullable<Parameters<Id>["query"]>, "metadata.KEY"> & Metadata }
  : Id extends TextId
    ? { query?: Omit<NonNullable<Parameters<Id>["query"]>, "format"> & { format?: "json" } }
    : Pick<Parameters<Id>, "query">;
type Metadata = { [name: `metadata.${string}`]: string };
type RequestBody<Id extends OperationId> = operations[Id] extends { requestBody: infer Given }
  ? { body: Content<Given> }
  : [NonNullable<operations[Id]["requestBody"]>] extends [never]
    ? unknown
    : { body?: Content<NonNullable<operations[Id]["requestBody"]>> };
type Content<Given> = Given extends { content: { "application/json": infer Body } } ? Body : never;

/** The parameters of a call as in the OpenAPI document: `path`, `query`, `headers` and `body`. */
export type Input<Id extends OperationId> = Pick<Parameters<Id>, "path"> &
  Query<Id> & {
    headers?: Headers<Id>;
  } & RequestBody<Id>;

/** Input may be left out if nothing in it is required. */
export type CallArguments<Id extends OperationId, Options> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: Options]
    : [input: Input<Id>, options?: Options];

/** Operations that answer with a page of a list. */
export type ListId = {
  [Id in CallId]: Answer<Id> extends { data: unknown[]; nextCursor: string | null } ? Id : never;
}[CallId];
export type Item<Id extends ListId> = Answer<Id> extends { data: (infer Each)[] } ? Each : never;
