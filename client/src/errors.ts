import type { Schemas } from "./types.js";

/** Every error of this package, except the reason of an aborted signal. */
export class StepwellError extends Error {
  override name = "StepwellError";
}

type Issue = Schemas["ApiIssue"];

/** The service rejected a call. Decide by `code`; `message` is for people. */
export class ApiError extends StepwellError {
  override name = "ApiError";
  readonly status: number;
  /** Null if the answer did not come from Stepwell, such as the page of a proxy. */
  readonly code: Schemas["ApiErrorCode"] | null;
  /** The invalid parts of the input, if known. */
  readonly issues: readonly Issue[];
  /** The request's id in the service's log. */
  readonly requestId: string | null;
  /** Milliseconds until a call is allowed again, from the header Retry-After. */
  readonly retryAfterMs: number | null;
  /** The key that the call was sent with: a start repeated with it starts no second run. */
  readonly idempotencyKey: string | null;

  constructor(facts: {
    status: number;
    message: string;
    code: Schemas["ApiErrorCode"] | null;
    issues: readonly Issue[];
    requestId: string | null;
    retryAfterMs: number | null;
    idempotencyKey: string | null;
  }) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.issues = facts.issues;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

type ConnectionErrorOptions = ErrorOptions & { idempotencyKey?: string | null };

/** No answer arrived: the network failed, or the answer took too long. `cause` has the reason. */
export class ConnectionError extends StepwellError {
  override name = "ConnectionError";
  /** The key that the call was sent with: a start repeated with it starts no second run. */
  readonly idempotencyKey: string | null;

  constructor(message: string, { idempotencyKey = null, ...options }: ConnectionErrorOptions = {}) {
    super(message, options);
    this.idempotencyKey = idempotencyKey;
  }
}

/** A run ended without an output: it failed or was cancelled. */
export class RunFailedError extends StepwellError {
  override name = "RunFailedError";
  readonly runId: string;
  readonly status: string;

  constructor(run: { id: string; status: string; errorMessage: string | null }) {
    super(run.errorMessage ?? `The run is ${run.status}.`);
    this.runId = run.id;
    this.status = run.status;
  }
}

/** A callback is not from the service, or too old. Answer it with 400. */
export class CallbackError extends StepwellError {
  override name = "CallbackError";
}

type CallFacts = Pick<ApiError, "retryAfterMs" | "idempotencyKey">;

/** Reads the answer of a failed call. `retryAfterMs` is that of its header. */
export async function readApiError(response: Response, call: CallFacts): Promise<ApiError> {
  const { status, headers } = response;
  const body = parseObject(await response.text());
  const { code, message, requestId, issues } = body;
  const isOurs = typeof code === "string" && typeof message === "string";
  return new ApiError({
    status,
    message: isOurs ? message : `The answer has the status ${status} and did not come from Stepwell.`,
    // The list of codes may be longer than that of this package.
    code: isOurs ? (code as Schemas["ApiErrorCode"]) : null,
    issues: Array.isArray(issues) ? issues.filter(isIssue) : [],
    requestId: typeof requestId === "string" ? requestId : headers.get("x-request-id"),
    ...call,
  });
}

function isIssue(value: unknown): value is Issue {
  const { path, message } = asObject(value);
  return typeof path === "string" && typeof message === "string";
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
