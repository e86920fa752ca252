import { z } from "zod";

/** The closed list of error codes on the wire with their HTTP status (docs/contract.md, "Errors"). */
export const HTTP_STATUS = {
  invalid_request: 400,
  agent_inactive: 400,
  insufficient_credits: 400,
  trigger_misconfigured: 400,
  unauthenticated: 401,
  invalid_signature: 401,
  api_access_disabled: 403,
  forbidden: 403,
  organization_suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  rate_limited: 429,
  internal_error: 500,
} as const;

/** The message of `internal_error`. The cause is only in the log. */
export const INTERNAL_ERROR_MESSAGE = "The service failed. Its log has the cause under the request id.";

export type ErrorCode = keyof typeof HTTP_STATUS;

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(HTTP_STATUS, text);
export const errorCode = z
  .enum(Object.keys(HTTP_STATUS).filter(isErrorCode))
  .meta({ id: "ApiErrorCode", description: "A closed list" });

const issue = z
  .object({
    path: z.string().meta({ description: "JSON pointer into the input" }),
    message: z.string().meta({ description: "For people" }),
  })
  .meta({
    id: "ApiIssue",
    // Otherwise it becomes two components, with and without `additionalProperties: false`.
    override: ({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }) => {
      delete jsonSchema.additionalProperties;
    },
  });

export const errorBody = z
  .object({
    success: z.literal(false),
    code: errorCode,
    message: z.string().meta({ description: "For people; may change" }),
    requestId: z.string().meta({ description: "The request's id in the service's log" }),
    issues: z.array(issue).optional().meta({
      description:
        "The invalid parts of the input, if known; of insufficient_credits, the hold and the balance",
    }),
  })
  .meta({ id: "ApiError" });
export type ErrorBody = z.infer<typeof errorBody>;

/** The same facts as RFC 9457, for callers that accept `application/problem+json`. */
export const problemBody = errorBody
  .extend({
    type: z.literal("about:blank"),
    title: z.string().meta({ description: "The phrase of the status, such as Bad Request" }),
    status: z.int(),
    detail: z.string().meta({ description: "The message" }),
  })
  .meta({ id: "ApiProblem" });
