import { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { errorBody, startToolBody, webhookAccepted } from "@/server/contract/shapes";
import { listOperations } from "./operations";

/**
 * The OpenAPI 3.1 document of `/v1` and the webhooks, made of the same schemas that parse and render them:
 * `/v1` from the procedures' metadata, endpoint 7 from the webhook door's shapes.
 */

const errors = (statuses: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [
      status,
      {
        description,
        headers: z.object({
          "X-Request-Id": z.string().meta({ description: "Names this request in the log" }),
        }),
        content: { "application/json": { schema: errorBody } },
      },
    ]),
  );

const START_ERRORS = {
  "400": "Invalid request, agent inactive, or insufficient credits",
  "401": "Invalid or missing API key",
  "403": "API access not enabled on the plan, organization suspended, or the key lacks the scope",
  "404": "Agent or tool not found",
  "409": "The Idempotency-Key was used with another request",
  "413": "The body is too large",
  "429": "Rate limit exceeded",
};
const READ_ERRORS = {
  "400": "Malformed id",
  "401": "Invalid or missing API key",
  "403": "API access not enabled on the plan, organization suspended, or the key lacks the scope",
  "404": "Run not found",
  "429": "Rate limit exceeded",
};
const WEBHOOK_ERRORS = {
  "400": "Invalid request, insufficient credits, or trigger misconfigured",
  "401": "Invalid HMAC signature",
  "404": "Webhook token not found",
  "413": "The body is too large",
  "429": "Too Many Requests",
};

const idempotencyKey = z
  .string()
  .regex(/^[!-~]([ -~]{0,253}[!-~])?$/)
  .optional()
  .meta({
    description: "The same key and request again within 24 hours gets the first answer, and starts nothing.",
  });

const success = (schema: z.ZodType, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** Makes the document. `appUrl` becomes its server. */
export function createOpenApiDocument(appUrl: string) {
  const paths: ZodOpenApiPathsObject = {};
  for (const { method, path, tag, summary, operationId, parameters, body, output } of listOperations()) {
    const isStart = body !== undefined;
    const isTool = tag === "Tools";
    const operation: ZodOpenApiOperationObject = {
      operationId,
      summary,
      tags: [tag],
      security: [{ apiKey: [] }],
      requestParams: {
        path: z.object(parameters),
        ...(isStart ? { header: z.object({ "Idempotency-Key": idempotencyKey }) } : {}),
      },
      ...(body === undefined
        ? {}
        : {
            requestBody: {
              required: !isTool,
              // A tool's input is free-form here; each tool checks it against its own parameter schema.
              content: { "application/json": { schema: isTool ? startToolBody : body } },
            },
          }),
      responses: {
        "200": success(output, isStart ? "The run is committed and will run" : summary),
        ...errors(isStart ? START_ERRORS : READ_ERRORS),
      },
    };
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  paths["/webhooks/{token}"] = {
    post: {
      operationId: "webhooks.receive",
      summary: "Start a run by a webhook trigger",
      tags: ["Webhooks"],
      security: [],
      requestParams: {
        path: z.object({ token: z.string().meta({ description: "The trigger's secret token" }) }),
        header: z.object({
          "X-Signature": z.string().optional().meta({
            description: "Hexadecimal HMAC-SHA256 of the raw body; required when the trigger has a secret",
          }),
          "Idempotency-Key": idempotencyKey,
          "webhook-id": idempotencyKey,
        }),
      },
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: z.json().meta({
              description: "Any JSON: the run's input; for a tool an object that fits its parameters",
            }),
          },
        },
      },
      responses: {
        "200": success(webhookAccepted, "The run is committed and will run"),
        ...errors(WEBHOOK_ERRORS),
      },
    },
  };
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "Stepwell",
      version: "1.0.0",
      description: "Run agents and tools, follow their runs, start them by webhooks.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: appUrl }],
    tags: [
      { name: "Agents", description: "Runs of agents" },
      { name: "Tools", description: "Runs of tools" },
      { name: "Webhooks", description: "Runs started by other systems" },
    ],
    components: { securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } } },
    paths,
  });
}
