import type { Endpoint } from "@/server/api/endpoint";
import { type ErrorBody, type ErrorCode, INTERNAL_ERROR_MESSAGE } from "@/server/contract/errors";
import { JSON_TYPE, PROBLEM_TYPE } from "@/server/contract/media-types";
import { WEBHOOK } from "@/server/contract/webhook";
import { bodyTooLarge } from "@/server/guard/limits/read-body";
import { headerReferences, type ResponseHeader } from "./headers";

const REQUEST_ID = "019aa5d1-9f0e-7c43-8a55-0c4a3f1d2b6e";

const MEANINGS: Record<ErrorCode, { meaning: string; message: string }> = {
  invalid_request: {
    meaning: "Malformed id, header or body, or an input that does not match the tool's parameters",
    message: "The request is not valid: userMessage is required.",
  },
  agent_inactive: { meaning: "Agent inactive", message: "The agent is inactive." },
  insufficient_credits: { meaning: "Insufficient credits", message: "Insufficient credits." },
  trigger_misconfigured: {
    meaning: "Trigger misconfigured: disabled, or its target is inactive or gone",
    message: "The trigger is disabled.",
  },
  unauthenticated: { meaning: "Invalid or missing API key", message: "The header X-API-Key is missing." },
  invalid_signature: {
    meaning: "Invalid or missing signature",
    message: "The signature is missing or not valid.",
  },
  api_access_disabled: {
    meaning: "API access not enabled on the plan",
    message: "API access is not enabled on the organization's plan.",
  },
  forbidden: {
    meaning: "The key lacks the scope, or is limited to other agents and tools",
    message: "The API key ci lacks the scope runs:start.",
  },
  organization_suspended: { meaning: "Organization suspended", message: "The organization is suspended." },
  not_found: { meaning: "Not found, or of another organization or kind", message: "Not found." },
  method_not_allowed: { meaning: "The path takes another method", message: "This path takes POST." },
  conflict: {
    meaning: "The run's status does not allow it",
    message: "Only ended runs can be forked. The run's status is Running.",
  },
  idempotency_conflict: {
    meaning: "The Idempotency-Key was used with another request",
    message: "This Idempotency-Key was used with another request.",
  },
  precondition_failed: {
    meaning: "The definition has changed since the ETag in If-Match",
    message: "The definition has changed since the ETag in If-Match. Read it again.",
  },
  payload_too_large: {
    meaning: "The body or userMessage is too large",
    message: bodyTooLarge(WEBHOOK.maxBodyBytes).message,
  },
  rate_limited: {
    meaning: "Rate limit exceeded",
    message: "Too Many Requests: at most 100 in 60 seconds. Try again in 17 s.",
  },
  internal_error: {
    meaning: "An error of the service; its cause is in the log under the request id",
    message: INTERNAL_ERROR_MESSAGE,
  },
};

const RESPONSES = {
  InvalidRequest: ["invalid_request"],
  ToolStartRejected: ["invalid_request", "insufficient_credits"],
  RepeatRejected: ["invalid_request", "agent_inactive", "insufficient_credits", "trigger_misconfigured"],
  AgentStartRejected: ["invalid_request", "agent_inactive", "insufficient_credits"],
  WebhookRejected: [
    "invalid_request",
    "insufficient_credits",
    "trigger_misconfigured",
    // 403 under /v1, 400 for webhooks.
    "organization_suspended",
  ],
  Unauthenticated: ["unauthenticated"],
  InvalidSignature: ["invalid_signature"],
  Forbidden: ["api_access_disabled", "forbidden", "organization_suspended"],
  NotFound: ["not_found"],
  MethodNotAllowed: ["method_not_allowed"],
  Conflict: ["conflict", "idempotency_conflict"],
  IdempotencyConflict: ["idempotency_conflict"],
  PreconditionFailed: ["precondition_failed"],
  PayloadTooLarge: ["payload_too_large"],
  CompressedBody: ["invalid_request"],
  RateLimited: ["rate_limited"],
  InternalError: ["internal_error"],
} as const satisfies Record<string, readonly ErrorCode[]>;

type ErrorResponseName = keyof typeof RESPONSES;

const COMMON = {
  "401": "Unauthenticated",
  "403": "Forbidden",
  "404": "NotFound",
  "405": "MethodNotAllowed",
  "429": "RateLimited",
  "500": "InternalError",
} as const;
const WITH_BODY = { "413": "PayloadTooLarge", "415": "CompressedBody" } as const;
const WITH_MATCH = { "412": "PreconditionFailed" } as const;
const START = { ...COMMON, "409": "IdempotencyConflict", "413": "PayloadTooLarge" } as const;
const { "403": _, ...WITHOUT_KEY } = COMMON;

export const WEBHOOK_ERRORS: Record<string, ErrorResponseName> = {
  ...WITHOUT_KEY,
  ...WITH_BODY,
  "400": "WebhookRejected",
  "401": "InvalidSignature",
};

export function errorsOf({
  answers,
  kind,
  body,
  headers,
  conflicts,
}: Endpoint): Record<string, ErrorResponseName> {
  const ofMatch = headers.includes("If-Match") ? WITH_MATCH : {};
  const ofBody = body === undefined ? ofMatch : { ...WITH_BODY, ...ofMatch };
  if (answers !== "start") return { ...COMMON, ...ofBody, "400": "InvalidRequest" };
  if (kind === undefined)
    return { ...START, ...ofBody, "400": "RepeatRejected", ...(conflicts && { "409": "Conflict" }) };
  return { ...START, ...ofBody, "400": kind === "agent" ? "AgentStartRejected" : "ToolStartRejected" };
}

export function errorResponses(): Record<string, ReturnType<typeof errorResponse>> {
  const { CompressedBody, ...others } = RESPONSES;
  const compressed = errorResponse(CompressedBody);
  return {
    ...Object.fromEntries(Object.entries(others).map(([name, codes]) => [name, errorResponse(codes)])),
    CompressedBody: {
      ...compressed,
      description: "The body has a Content-Encoding",
      headers: { ...compressed.headers, ...headerReferences("Accept-Encoding") },
    },
  };
}

function errorResponse(codes: readonly ErrorCode[]) {
  const [first] = codes;
  return {
    description: codes.map((code) => MEANINGS[code].meaning).join("; "),
    headers: headerReferences("X-Request-Id", ...extraHeaders(first)),
    content: {
      [JSON_TYPE]: {
        schema: { $ref: "#/components/schemas/ApiError" },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
      },
      [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/ApiProblem" } },
    },
  };
}

function extraHeaders(code: ErrorCode | undefined): ResponseHeader[] {
  if (code === "method_not_allowed") return ["Allow"];
  // These calls are not counted.
  if (code === "unauthenticated" || code === "invalid_signature") return [];
  // A call may fail before it is counted.
  return ["RateLimit-Policy", "RateLimit", ...(code === "rate_limited" ? ["Retry-After" as const] : [])];
}

const EXAMPLE_ISSUES: Partial<Record<ErrorCode, ErrorBody["issues"]>> = {
  invalid_request: [{ path: "/userMessage", message: "userMessage is required" }],
  insufficient_credits: [
    { path: "", message: "The start needs a hold of 0.4210 credits; the balance is 0.1000" },
  ],
};

function errorExample(code: ErrorCode): ErrorBody {
  const { message } = MEANINGS[code];
  const issues = EXAMPLE_ISSUES[code];
  return {
    success: false,
    code,
    message,
    requestId: REQUEST_ID,
    ...(issues === undefined ? {} : { issues }),
  };
}
