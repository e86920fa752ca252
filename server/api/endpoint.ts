import type { AnyProcedure } from "@trpc/server";
import { z } from "zod";
import type { ApiKeyActor, KeyScope } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import type { RunKind } from "@/server/contract/enums";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/services";
import { type ApiContext, publicProcedure } from "./trpc";

/**
 * The procedure, the REST handler's route and checks, the OpenAPI document, the API reference and its form come
 * from this declaration (docs/architecture.md, "A request").
 */

/** The facts of an endpoint for the REST handler and the document. */
export type EndpointRules = {
  method: "GET" | "POST";
  /** Parameters are in braces. A literal segment takes precedence over a parameter. */
  path: `/v1/${string}`;
  operationId: string;
  /** One of TAGS (v1/endpoints.ts). */
  tag: string;
  summary: string;
  description: string;
  successDescription: string;
  scope: KeyScope;
  /** A second scope that a call needs. */
  alsoNeeds?: KeyScope;
  limit: "starts" | "reads" | "lists";
  kind?: RunKind;
  requestHeaders?: z.ZodObject;
  /** The first version's endpoints ignore unknown query parameters; others reject them. */
  ignoresUnknownQuery?: true;
  body?: { maxBytes: number; optional?: true };
  /** The answer of an endpoint that needs only the run: polls are answered from memory (poll.ts). */
  viewRun?(services: Pick<Services, "clock">, run: RunFacts): object;
  example: { request?: object; response: object | string };
  sendsEvents?: true;
};

export type Endpoint = EndpointRules & {
  parameters: readonly string[];
  query: readonly string[];
  procedure: AnyProcedure;
};

export type KeyContext = ApiContext & { actor: ApiKeyActor };

type Declaration<Input extends z.ZodObject, Answer extends z.ZodType> = EndpointRules & {
  input: Input;
  answer: Answer;
  run(
    services: Services,
    actor: ApiKeyActor,
    input: Input["_zod"]["output"],
  ): Promise<Answer["_zod"]["input"]>;
};

export function endpoint<Input extends z.ZodObject, Answer extends z.ZodType>({
  input,
  answer,
  run,
  ...rules
}: Declaration<Input, Answer>): Endpoint {
  const resolve = ({ services, actor }: KeyContext, given: Input["_zod"]["output"]) =>
    run(services, actor, given);
  return endpointOf(rules, { input, answer, resolve });
}

/** The endpoint of a resolver, which gets the procedure's context. */
export function endpointOf(
  rules: EndpointRules,
  implementation: {
    input: z.ZodObject;
    answer: z.ZodType;
    resolve(ctx: KeyContext, input: Record<string, unknown>): Promise<unknown>;
  },
): Endpoint {
  const { method, path, tag, operationId, summary, description, successDescription } = rules;
  const requestHeaders = rules.requestHeaders ?? (hasEntityTag(rules) ? IF_NONE_MATCH : undefined);
  const { input, answer, resolve } = implementation;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const query = Object.keys(input.shape).filter((name) => name !== "body" && !parameters.includes(name));
  const openapi = { method, path, operationId, summary, description, successDescription, tags: [tag] };
  const declared = keyProcedure
    // Without our error responses (openapi/responses.ts): the library caches an error's description for the process.
    .meta({ openapi: { ...openapi, errorResponses: {}, ...(requestHeaders ? { requestHeaders } : {}) } })
    .input(input)
    .output(answer);
  const call = ({ ctx, input: given }: { ctx: KeyContext; input: Record<string, unknown> }) =>
    resolve(ctx, given);
  const procedure: AnyProcedure = method === "GET" ? declared.query(call) : declared.mutation(call);
  return { ...rules, parameters, query, procedure };
}

/** The answers of reads have an `ETag`, except pages of lists and streams. */
export const hasEntityTag = ({ method, limit, sendsEvents }: EndpointRules) =>
  method === "GET" && limit === "reads" && !sendsEvents;

const IF_NONE_MATCH = z.object({
  "If-None-Match": z.string().optional().meta({
    description: "The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body.",
  }),
});

const keyProcedure = publicProcedure.use(({ ctx, next }) => {
  if (ctx.actor?.kind !== "api_key")
    throw new AppError("unauthenticated", "The header X-API-Key is missing.");
  const actor: ApiKeyActor = ctx.actor;
  return next({ ctx: { ...ctx, actor } });
});

/** A path parameter with the id of something, such as `agentId` of an agent. */
export const idParameter = (name: string, what: string) =>
  z.uuid(`${name} is not a valid ${what} id`).meta({ description: `The ${what}'s id` });

type JsonSchema = { jsonSchema: { type?: unknown; pattern?: unknown; enum?: unknown } };

export function integerParameter(
  name: string,
  { min, max, description }: { min: number; max: number; description: string },
) {
  const message = `${name} must be a whole number from ${min} to ${max}`;
  const override = ({ jsonSchema }: JsonSchema) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: "integer", minimum: min, maximum: max });
  };
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .pipe(z.int().min(min, message).max(max, message))
    .meta({ description, override });
}

export function flagParameter(name: string, description: string) {
  const override = ({ jsonSchema }: JsonSchema) => {
    delete jsonSchema.enum;
    jsonSchema.type = "boolean";
  };
  return z
    .enum(["true", "false"], `${name} must be true or false`)
    .transform((text) => text === "true")
    .meta({ description, override });
}
