import { generateOpenApiDocument, type OpenAPIObject } from "trpc-to-openapi";
import { v1Router } from "@/server/api/v1";
import { errorBody, problemBody } from "@/server/contract/errors";
import { EXAMPLES } from "./examples";
import { headerReferences, RESPONSE_HEADERS } from "./headers";
import { errorResponses, errorResponsesOf } from "./responses";
import { WEBHOOK_PATH } from "./webhook-path";

/**
 * The OpenAPI 3.1 document of `/v1` and the webhooks, with `appUrl` as its server. trpc-to-openapi generates it from
 * the procedures. This module adds what the library does not support: our error responses, headers, examples and tag
 * descriptions.
 */
export function createOpenApiDocument(appUrl: string): OpenAPIObject {
  const document = generateOpenApiDocument(v1Router, {
    title: "Stepwell",
    version: "1.0.0",
    description: "Run agents and tools, follow their runs, start them with webhooks.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    openApiVersion: "3.1.0",
    baseUrl: appUrl,
    securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
    paths: WEBHOOK_PATH,
    defs: { ApiError: errorBody, ApiProblem: problemBody },
  });
  document.tags = [
    { name: "Agents", description: "Runs of agents" },
    { name: "Tools", description: "Runs of tools" },
    { name: "Webhooks", description: "Runs started by other systems" },
  ];
  document.components = { ...document.components, headers: RESPONSE_HEADERS, responses: errorResponses() };
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post]) if (operation !== undefined) completeOperation(operation);
  }
  simplifySchemas(document);
  return document;
}

type PathItem = NonNullable<OpenAPIObject["paths"]>[string];
type Operation = NonNullable<PathItem["post"]>;

/** The only operation whose body is optional. */
const BODY_IS_OPTIONAL = "runTool";
const RATE_HEADERS = headerReferences("X-Request-Id", "RateLimit-Policy", "RateLimit");
const START_HEADERS = { ...RATE_HEADERS, ...headerReferences("Idempotent-Replayed") };

function completeOperation(operation: Operation): void {
  const { operationId = "", requestBody, responses } = operation;
  const examples = EXAMPLES[operationId];
  if (examples === undefined || responses === undefined) {
    throw new Error(`The operation ${operationId} has no examples.`);
  }
  const isStart = requestBody !== undefined;
  const { description, content } = responses["200"];
  operation.responses = {
    "200": {
      description,
      headers: isStart ? START_HEADERS : RATE_HEADERS,
      content: { "application/json": { ...content["application/json"], example: examples.response } },
    },
    ...Object.fromEntries(
      Object.entries(errorResponsesOf(operationId)).map(([status, name]) => [
        status,
        { $ref: `#/components/responses/${name}` },
      ]),
    ),
  };
  if (requestBody === undefined || "$ref" in requestBody) return;
  const schema = requestBody.content["application/json"]?.schema;
  // Procedures take `{ …path parameters, body }`.
  const body = schema !== undefined && "properties" in schema ? schema.properties?.body : undefined;
  requestBody.required = operationId !== BODY_IS_OPTIONAL;
  requestBody.content = { "application/json": { schema: body ?? schema ?? {}, example: examples.request } };
}

/**
 * Removes what zod adds and generated clients do not handle: patterns beside a format, and JavaScript's integer bounds.
 * Also removes `additionalProperties: false`, since `/v1` may gain optional fields.
 */
function simplifySchemas(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if ("pattern" in value && "format" in value) delete value.pattern;
  if ("maximum" in value && value.maximum === Number.MAX_SAFE_INTEGER) delete value.maximum;
  if ("minimum" in value && value.minimum === Number.MIN_SAFE_INTEGER) delete value.minimum;
  if ("additionalProperties" in value && value.additionalProperties === false)
    delete value.additionalProperties;
  for (const part of Object.values(value)) simplifySchemas(part);
}
