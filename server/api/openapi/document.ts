import { generateOpenApiDocument, type OpenAPIObject } from "trpc-to-openapi";
import type { Endpoint } from "@/server/api/endpoint";
import { API_VERSION, ENDPOINTS, TAGS, v1Router } from "@/server/api/v1/endpoints";
import { KEY_SCOPES, SCOPE_TEXTS } from "@/server/base/actor";
import { errorBody, problemBody } from "@/server/contract/errors";
import { EVENTS_TYPE, JSON_TYPE, YAML_TYPE } from "@/server/contract/media-types";
import { headerReferences, RESPONSE_HEADERS } from "./headers";
import { errorResponses, errorsOf, WEBHOOK_ERRORS } from "./responses";
import { WEBHOOK_PATH } from "./webhook-path";

/**
 * The OpenAPI 3.1 document of `/v1` and the webhooks, with `appUrl` as its server. Adds what trpc-to-openapi does
 * not support: error responses, headers, examples and tag descriptions.
 */
export function createOpenApiDocument(appUrl: string): OpenAPIObject {
  const document = generateOpenApiDocument(v1Router, {
    title: "Stepwell",
    version: API_VERSION,
    description: "Run agents and tools, follow their runs, start them with webhooks.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    openApiVersion: "3.1.0",
    baseUrl: appUrl,
    securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: SCOPES } },
    paths: WEBHOOK_PATH,
    defs: { ApiError: errorBody, ApiProblem: problemBody },
  });
  document.tags = TAGS;
  document.components = { ...document.components, headers: RESPONSE_HEADERS, responses: errorResponses() };
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post, item.patch, item.delete])
      if (operation !== undefined) completeOperation(operation);
  }
  simplifySchemas(document);
  return document;
}

const SCOPES = KEY_SCOPES.map((scope) => `- ${scope}: ${SCOPE_TEXTS[scope].may}`).join("\n");

type PathItem = NonNullable<OpenAPIObject["paths"]>[string];
type Operation = NonNullable<PathItem["post"]>;
type Media = Extract<NonNullable<Operation["requestBody"]>, { content: unknown }>["content"][string];

const ENDPOINTS_BY_ID = new Map(Object.values(ENDPOINTS).map((each) => [each.operationId, each]));
const RATE_HEADERS = headerReferences("X-Request-Id", "RateLimit-Policy", "RateLimit");
const HEADERS = {
  start: { ...RATE_HEADERS, ...headerReferences("Idempotent-Replayed") },
  view: { ...RATE_HEADERS, ...headerReferences("ETag") },
  saved: { ...RATE_HEADERS, ...headerReferences("ETag") },
  events: RATE_HEADERS,
  plain: RATE_HEADERS,
};

function completeOperation(operation: Operation): void {
  const { operationId = "", requestBody, responses } = operation;
  const endpoint = ENDPOINTS_BY_ID.get(operationId);
  if (endpoint !== undefined) operation.description = `${operation.description} ${needsOf(endpoint)}`;
  // The webhook also starts a run.
  const answers = endpoint?.answers ?? "start";
  if (responses === undefined) throw new Error(`The operation ${operationId} has no responses.`);
  const { description, content } = responses["200"];
  const headers = HEADERS[answers];
  const type = answers === "events" ? EVENTS_TYPE : JSON_TYPE;
  operation.responses = {
    "200": {
      description,
      headers,
      content: {
        [type]: withExample(bodyOf(content[JSON_TYPE]), endpoint?.example.response),
        ...yamlOf(endpoint?.sendsYaml),
      },
    },
    ...(answers === "events" && {
      "204": { description: "The run has ended, and the reader has its last event", headers },
    }),
    ...(answers === "view" && {
      "304": { description: "Not modified since the ETag in If-None-Match", headers },
    }),
    ...Object.fromEntries(
      Object.entries(endpoint === undefined ? WEBHOOK_ERRORS : errorsOf(endpoint)).map(([status, name]) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]),
    ),
  };
  const body = requestBody === undefined || "$ref" in requestBody ? undefined : requestBody;
  operation.parameters = [...(operation.parameters ?? []), ...queryOf(body?.content[JSON_TYPE])];
  for (const parameter of operation.parameters) describeParameter(parameter);
  if (body === undefined) return;
  body.required = endpoint?.body?.optional !== true;
  const json = bodyOf(body.content[JSON_TYPE]);
  body.content = {
    [JSON_TYPE]: withExample(json, endpoint?.example.request),
    ...yamlOf(endpoint?.body?.yaml),
  };
}

// Procedures take `{ …parameters, body }` and return `{ body, … }`; the webhook has the bodies themselves.
function bodyOf({ schema = {}, ...media }: Media = {}): Media {
  const body = "properties" in schema ? schema.properties?.body : undefined;
  return { ...media, schema: body ?? schema };
}

/** The scopes that a call needs and the limit that it counts against. */
function needsOf({ scope, alsoNeeds = [], limit }: Endpoint): string {
  const scopes = alsoNeeds.length === 0 ? `scope ${scope}` : `scopes ${[scope, ...alsoNeeds].join(" and ")}`;
  return `The key needs the ${scopes}. The call counts as a ${limit.slice(0, -1)}.`;
}

const yamlOf = (example: string | undefined): Record<string, Media> =>
  example === undefined ? {} : { [YAML_TYPE]: { schema: { type: "string" }, example } };

/** The parameters beside a body; those of calls without one are parameters already. */
function queryOf({ schema }: Media = {}): NonNullable<Operation["parameters"]> {
  const properties = schema !== undefined && "properties" in schema ? (schema.properties ?? {}) : {};
  if (!Object.hasOwn(properties, "body")) return [];
  return Object.entries(properties).flatMap(([name, of]) =>
    name === "body" ? [] : [{ name, in: "query" as const, required: false, schema: of }],
  );
}

function describeParameter(parameter: NonNullable<Operation["parameters"]>[number]): void {
  if ("$ref" in parameter || parameter.description !== undefined) return;
  const { description } = parameter.schema ?? {};
  if (description !== undefined) parameter.description = description;
}

function withExample(media: Media, example?: object | string): Media {
  const { schema = {}, example: declared, ...others } = media;
  return { schema, ...others, example: example ?? declared };
}

// Removes what generated clients do not handle: patterns beside a format, JavaScript's integer bounds, constant
// booleans (openapi-generator expects the text "true") and defaults beside a reference. Also removes
// `additionalProperties: false`, since `/v1` may gain optional fields.
function simplifySchemas(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("pattern" in value && "format" in value) delete value.pattern;
  if ("const" in value && typeof value.const === "boolean") delete value.const;
  if ("default" in value && "$ref" in value) delete value.default;
  if ("maximum" in value && value.maximum === Number.MAX_SAFE_INTEGER) delete value.maximum;
  if ("minimum" in value && value.minimum === Number.MIN_SAFE_INTEGER) delete value.minimum;
  if ("additionalProperties" in value && value.additionalProperties === false)
    delete value.additionalProperties;
  for (const part of Object.values(value)) simplifySchemas(part);
}
