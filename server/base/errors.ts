import { type ErrorCode, HTTP_STATUS } from "@/server/contract/errors";

/** One issue in the caller's input; `path` is a JSON pointer into it. */
export type Issue = { path: string; message: string };

type AppErrorOptions = {
  cause?: unknown;
  issues?: Issue[];
  headers?: Record<string, string>;
  /** Overrides the code's status where the contract requires it (a suspended organization is 400 on webhooks). */
  status?: number;
};

/**
 * An error whose message callers see. Anything else that is thrown is answered with a fixed message and logged with
 * the request id.
 */
export class AppError extends Error {
  readonly brand = "stepwell.AppError";
  readonly code: ErrorCode;
  readonly issues: Issue[] | undefined;
  readonly headers: Record<string, string>;
  readonly status: number;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.issues = options.issues;
    this.headers = options.headers ?? {};
    this.status = options.status ?? HTTP_STATUS[code];
  }
}

/** The service or a command cannot start. The message says why and what to do; it is printed without a stack. */
export class StartError extends Error {
  override name = "StartError";
}

/** Recognizes an AppError by its brand: two bundles of this module may be in one process. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && "brand" in error && error.brand === "stepwell.AppError";
}

/** Returns true if a procedure failed with an error for its caller, so that the same call would fail again. */
export function isCallerError(error: unknown): boolean {
  return error instanceof Error && isAppError(error.cause) && error.cause.status < 500;
}

/** The code of an error of PostgreSQL, the network or Node; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** An error and its causes, outermost first; of several errors in one the first. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let next = error; next instanceof Error && causes.length < 6; ) {
    causes.push(next);
    next = next instanceof AggregateError ? next.errors[0] : next.cause;
  }
  return causes;
}
