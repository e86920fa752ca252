import type { AnyProcedure } from "@trpc/server";
import { z } from "zod";
import type { ApiKeyActor, KeyScope } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import type { RunKind } from "@/server/contract/enums";
import { idInput } from "@/server/contract/ids";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/services";
import { type ApiCall, type ApiContext, restProcedure } from "./trpc";

/**
 * The procedure, the REST handler's route and checks, the OpenAPI document, the API reference and its form come
 * from this declaration (docs/architecture.md, "A request").
 */

export type EndpointRules = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Parameters are in braces. A literal segment takes precedence over a parameter. */
  path: `/v1/${string}`;
  operationId: string;
  /** One of TAGS (v1/endpoints.ts). */
  tag: string;
  summary: string;
  description: string;
  successDescription: string;
  scope: KeyScope;
  /** Further scopes that a call needs. */
  alsoNeeds?: readonly KeyScope[];
  /**
   * `start`: calls start a run, and can be repeated with an Idempotency-Key. `view`: the answer is a state, with an
   * ETag. `saved`: as the view of what was changed. `events`: a stream. `plain`: any other answer.
   */
  answers: "start" | "view" | "saved" | "events" | "plain";
  /** Fields of a definition's answer that change by themselves: If-Match ignores them. */
  state?: readonly string[];
  /** The status of a run may not allow the call: 409 `conflict`. */
  conflicts?: true;
  /** Starts count as starts, others as reads, except lists and changes of definitions. */
  limit?: "lists" | "changes";
  /** A repeated POST changes nothing more, so that clients may repeat it. */
  idempotent?: true;
  kind?: RunKind;
  requestHeaders?: z.ZodObject;
  /** The first version's endpoints ignore unknown query parameters; others reject them. */
  ignoresUnknownQuery?: true;
  /** `yaml`: an example. Such a body is YAML or JSON, and passed as text. */
  body?: { maxBytes: number; optional?: true; yaml?: string };
  /** An example of the answer in YAML. */
  sendsYaml?: string;
  /** The view of an endpoint that needs only the run: polls are answered from memory (poll.ts). */
  viewRun?(services: Pick<Services, "clock">, run: RunFacts): object;
  example: { request?: object; response: object | string };
};

export type Endpoint = Omit<EndpointRules, "limit"> & {
  limit: "starts" | "reads" | "lists" | "changes";
  parameters: readonly string[];
  query: readonly string[];
  /** The request headers of `ApiCall`. */
  headers: readonly string[];
  procedure: AnyProcedure;
};

export type EndpointCall<Input> = { services: Services; actor: ApiKeyActor; input: Input; call: ApiCall };

/** The parts of a response beside its body. */
export type Sent = {
  headers?: Readonly<Record<string, string>>;
  /** A stored body, which is sent unchanged. */
  text?: string | undefined;
  /** Sent instead of a body. Null: the reader has all, so 204 tells an EventSource to stop (HTML Standard, 9.2.3). */
  events?: ReadableStream<Uint8Array> | null;
};

/** A body with more than a body to send. */
export class Reply<Body> {
  readonly body: Body;
  readonly sent: Sent;

  constructor(body: Body, sent: Sent) {
    this.body = body;
    this.sent = sent;
  }
}

type Declaration<Input extends z.ZodObject, Answer extends z.ZodType> = EndpointRules & {
  input: Input;
  answer: Answer;
  run(
    call: EndpointCall<Input["_zod"]["output"]>,
  ): Promise<Answer["_zod"]["input"] | Reply<Answer["_zod"]["input"]>>;
};

type Implementation = {
  input: z.ZodObject;
  answer: z.ZodType;
  run(call: EndpointCall<Record<string, unknown>>): Promise<unknown>;
};

/** The procedure takes `{ …parameters, body }` and returns the form of a reply. */
export function endpoint<Input extends z.ZodObject, Answer extends z.ZodType>(
  declaration: Declaration<Input, Answer>,
): Endpoint {
  const { input, answer, run, ...rules }: EndpointRules & Implementation = declaration;
  const { method, path, tag, operationId, summary, description, successDescription, answers } = rules;
  const requestHeaders = rules.requestHeaders ?? (answers === "view" ? IF_NONE_MATCH : undefined);
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const query = Object.keys(input.shape).filter((name) => name !== "body" && !parameters.includes(name));
  const openapi = { method, path, operationId, summary, description, successDescription, tags: [tag] };
  const declared = restProcedure
    // Without our error responses (openapi/responses.ts): the library caches an error's description for the process.
    .meta({ openapi: { ...openapi, errorResponses: {}, ...(requestHeaders ? { requestHeaders } : {}) } })
    .input(input)
    .output(z.object({ body: answer, sent }));
  const resolve = async ({ ctx, input: given }: { ctx: ApiContext; input: Record<string, unknown> }) => {
    const { services, actor, call } = ctx;
    if (actor?.kind !== "api_key" || call === undefined)
      throw new AppError("unauthenticated", "The header X-API-Key is missing.");
    const result = await run({ services, actor, input: given, call });
    return result instanceof Reply ? result : { body: result };
  };
  const procedure: AnyProcedure = method === "GET" ? declared.query(resolve) : declared.mutation(resolve);
  const limit = answers === "start" ? "starts" : (rules.limit ?? "reads");
  const headers = answers === "start" ? [] : Object.keys(rules.requestHeaders?.shape ?? {});
  return { ...rules, limit, parameters, query, headers, procedure };
}

const sent = z
  .custom<Sent>()
  .meta({ override: { type: "object" } })
  .optional();

const IF_NONE_MATCH = z.object({
  "If-None-Match": z.string().optional().meta({
    description: "The ETag of an earlier answer: if nothing has changed, the answer is 304 without a body.",
  }),
});

export const idParameter = (name: string, what: string) =>
  idInput(`${name} is not a valid ${what} id`).meta({ description: `The ${what}'s id` });

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
